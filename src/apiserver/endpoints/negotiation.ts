// Which form an answer takes (k8s.io/apiserver/pkg/endpoints/handlers/negotiation): JSON, YAML or protobuf, and whether objects are to be
// shown as a Table or as metadata only.
import { notAcceptable, StatusError } from '#apimachinery/errors';
import { parseAccept } from '#component-base';
import type { Credentials } from '../request/request.ts';

export type Encoding = 'json' | 'yaml' | 'protobuf';

export interface Shape {
  /** The kind asked for; undefined: the object itself. */
  as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  /** Group version of that kind, e.g. 'meta.k8s.io/v1'. */
  apiVersion: string;
}

export interface Negotiated extends Shape {
  encoding: Encoding;
  /** `stream=watch`. */
  stream: boolean;
  pretty: boolean;
}

export const mediaTypes: Record<Encoding, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

export const acceptOf = ({ headers }: Pick<Credentials, 'headers'>): string => String(headers['accept'] ?? '');

const all = Object.values(mediaTypes);
const listable = [...all, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];

/** What go-restful's router says before any handler runs. */
export function routerRefusal(header: string, available: readonly string[]): StatusError | undefined {
  if (header === '') return undefined;
  const wanted = header.split(',').map((part) => (part.split(';')[0] ?? '').trim());
  const plain = new Set(available.map((type) => type.split(';')[0]));
  if (wanted.some((type) => type === '*/*' || plain.has(type))) return undefined;
  return new StatusError({
    code: 406,
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
    details: {},
  });
}

export interface NegotiationRules {
  /** Table and metadata-only answers can be made. */
  tables: boolean;
  /** The kind has a protobuf form. */
  protobuf: boolean;
  /** Custom resources, `/apis` and its groups have no router in front that refuses media types. */
  unrouted?: boolean;
  /** Where lists and watches are answered: the router knows the streaming forms too. */
  listable: boolean;
}

const metaVersions = new Set(['v1', 'v1beta1']);

function shapeOf(parameters: Map<string, string>, rules: NegotiationRules): Shape | undefined {
  const as = parameters.get('as');
  const group = parameters.get('g') ?? '';
  const version = parameters.get('v') ?? '';
  if (as === undefined || as === '') return group === '' && version === '' ? { apiVersion: '' } : undefined;
  if (!rules.tables || group !== 'meta.k8s.io' || !metaVersions.has(version)) return undefined;
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
  return { as, apiVersion: `${group}/${version}` };
}

const remembered = new Map<string, Negotiated>();
const rememberedMax = 256;
const rememberedLengthMax = 256;

/** Throws 406. `userAgent` decides pretty printing where the client does not. Clients send few different headers: answers are remembered. */
export function negotiate(accept: string, rules: NegotiationRules, query: URLSearchParams, userAgent: string): Negotiated {
  const pretty = isPretty(query, userAgent);
  const { tables, protobuf, listable: lists, unrouted } = rules;
  const key = `${tables ? 't' : ''}${unrouted ? 'u' : ''}${protobuf ? 'p' : ''}${lists ? 'l' : ''}${pretty ? '+' : '-'}${accept}`;
  const known = remembered.get(key);
  if (known) return known;
  const made = Object.freeze(negotiateAnew(accept, rules, pretty));
  if (key.length <= rememberedLengthMax) {
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(key, made);
  }
  return made;
}

/** How a failure is written: as the client can read it, without any shape; else as indented JSON. */
export function negotiateStatus(accept: string, query: URLSearchParams, userAgent: string): Negotiated {
  const form = { apiVersion: '', stream: false, pretty: isPretty(query, userAgent) };
  if (accept.trim() === '') return { ...form, encoding: 'json' };
  for (const { type, parameters } of parseAccept(accept)) {
    const encoding = encodingOf(type);
    if (encoding && shapeOf(parameters, shapeless)) return { ...form, encoding };
  }
  return { ...form, encoding: 'json', pretty: true };
}

const shapeless: NegotiationRules = { tables: false, protobuf: true, listable: false };

function negotiateAnew(accept: string, rules: NegotiationRules, pretty: boolean): Negotiated {
  const refusal = rules.unrouted ? undefined : routerRefusal(accept, rules.listable ? listable : all);
  if (refusal) throw refusal;
  if (accept.trim() === '') return { encoding: 'json', apiVersion: '', stream: false, pretty };
  for (const { type, parameters } of parseAccept(accept)) {
    const encoding = encodingOf(type);
    const shape = shapeOf(parameters, rules);
    if (!encoding || !shape || (encoding === 'protobuf' && !rules.protobuf && shape.as === undefined)) continue;
    if (shape.as === 'Table' && encoding === 'protobuf') continue;
    return {
      ...shape,
      encoding,
      stream: parameters.get('stream') === 'watch',
      pretty: pretty || isTrue(parameters.get('pretty')),
    };
  }
  throw notAcceptable(all);
}

const encodingOf = (type: string): Encoding | undefined => {
  if (type === '*/*' || type === 'application/*' || type === mediaTypes.json) return 'json';
  if (type === mediaTypes.yaml) return 'yaml';
  return type === mediaTypes.protobuf ? 'protobuf' : undefined;
};

const isTrue = (text: string | undefined): boolean => text === '1' || text === 'true';

function isPretty(query: URLSearchParams, userAgent: string): boolean {
  if (query.has('pretty')) {
    const value = query.get('pretty') ?? '';
    return value !== '0' && value.toLowerCase() !== 'false';
  }
  return /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}
