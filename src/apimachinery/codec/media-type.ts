// Accept and Content-Type headers (k8s.io/apiserver/pkg/endpoints/handlers/negotiation over goautoneg): which of the offered media types a
// client asks for, and what it asks to be done to the answer.
import type { GroupVersionKind } from '../meta/index.ts';
import { acceptClausesMax } from './limits.ts';

/** One media range of an Accept header. */
export interface AcceptClause {
  type: string;
  subtype: string;
  quality: number;
  parameters: ReadonlyMap<string, string>;
}

/** The clauses in order of preference: by quality, whole types before wildcards, then as written. Malformed clauses are left out. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const text of header.split(',').slice(0, acceptClausesMax)) {
    const [range = '', ...rest] = text.split(';');
    const [type = '', subtype, extra] = range.trim().split('/');
    if (type === '' || extra !== undefined) continue;
    const parameters = new Map(rest.flatMap(parameterOf));
    const quality = parameters.has('q') ? Number.parseFloat(parameters.get('q') ?? '') || 0 : 1;
    parameters.delete('q');
    clauses.push({ type, subtype: subtype ?? (type === '*' ? '*' : ''), quality, parameters });
  }
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

const wildcards = ({ type, subtype }: AcceptClause): number => (type === '*' ? 2 : subtype === '*' ? 1 : 0);

function parameterOf(text: string): [string, string][] {
  const at = text.indexOf('=');
  return at < 0 ? [] : [[text.slice(0, at).trim(), text.slice(at + 1).trim()]];
}

/** The form of an answer that client and server agreed on. */
export interface AcceptedMediaType {
  /** One of the offers. */
  mediaType: string;
  /** `pretty=1`. */
  pretty: boolean;
  /** `stream`: '' or 'watch'. */
  stream: string;
  /** `as`, `g` and `v`: answer with this kind instead. */
  convert?: GroupVersionKind;
  /** `profile`: the discovery profile. */
  profile: string;
}

export interface MediaTypeOffers {
  /** In the server's order of preference; the first answers an absent Accept. */
  mediaTypes: readonly string[];
  /** Those of `mediaTypes` that can carry a watch. */
  streams?: readonly string[];
  /** Whether an answer can be converted for this media type; by default none can. */
  converts?(mediaType: string, target: GroupVersionKind): boolean;
}

/** The first clause that an offer satisfies with all it asks for; undefined: answer 406 (`notAcceptable` of #apimachinery/errors). */
export function negotiateMediaType(header: string, offers: MediaTypeOffers): AcceptedMediaType | undefined {
  const [first] = offers.mediaTypes;
  if (header === '' && first !== undefined) return { mediaType: first, pretty: false, stream: '', profile: '' };
  for (const clause of parseAccept(header)) {
    for (const mediaType of offers.mediaTypes) {
      if (!matches(clause, mediaType)) continue;
      const accepted = acceptedAs(clause, mediaType, offers);
      if (accepted !== undefined) return accepted;
    }
  }
  return undefined;
}

function matches({ type, subtype }: AcceptClause, mediaType: string): boolean {
  const [offeredType = '', offeredSubtype = ''] = mediaType.split('/');
  if (type === '*') return subtype === '*';
  return type === offeredType && (subtype === '*' || subtype === offeredSubtype);
}

function acceptedAs({ parameters }: AcceptClause, mediaType: string, offers: MediaTypeOffers): AcceptedMediaType | undefined {
  const stream = parameters.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || !offers.streams?.includes(mediaType))) return undefined;
  if ((parameters.get('sv') ?? '') !== '') return undefined;
  const asked = ['as', 'g', 'v'].some((name) => parameters.has(name));
  const convert = { kind: parameters.get('as') ?? '', group: parameters.get('g') ?? '', version: parameters.get('v') ?? '' };
  if (asked && !offers.converts?.(mediaType, convert)) return undefined;
  const pretty = parameters.get('pretty') === '1';
  return { mediaType, pretty, stream, profile: parameters.get('profile') ?? '', ...(asked && { convert }) };
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const parameter = /^\s*[!#$%&'*+\-.^_`|~0-9A-Za-z]+=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[^"\\]|\\.)*")\s*$/;

/** The media type of a Content-Type header in lower case, without parameters; undefined when it is malformed. */
export function contentMediaType(header: string): string | undefined {
  const [type = '', ...parameters] = header.split(';');
  const trimmed = type.trim().toLowerCase();
  const wellFormed = parameters.every((text, at) => parameter.test(text) || (at === parameters.length - 1 && text.trim() === ''));
  return token.test(trimmed) && wellFormed ? trimmed : undefined;
}
