// The answer of an endpoint that is no storage, in the shape the client asks for: whole, its metadata alone, or as a Table where its
// kind has columns (k8s.io/apiserver/pkg/endpoints/handlers/response.go).
import { notAcceptable, StatusError } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { SpecialRest } from '../registry/special.ts';
import { mediaTypes, type Negotiated, negotiate } from './negotiation.ts';
import { type Answer, plainJson, sendValue } from './respond.ts';
import { describeColumns, includeObjectOf, type IncludeObject, partialMetadata } from './table.ts';

/** How a client wants to be answered. */
export interface AskedForm {
  readonly accept: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
}

type Listed = UnknownObject & { items?: UnknownObject[] };

/** Throws 406, also for a Table of what has no columns. */
export function negotiateSpecial(
  { accept, query, userAgent }: AskedForm,
  { printer, jsonOnly = false }: SpecialRest,
): Negotiated {
  const negotiated = negotiate(accept, { tables: true, protobuf: !jsonOnly, listable: false }, query, userAgent);
  if (negotiated.as === 'Table' && !printer) throw notAcceptable(Object.values(mediaTypes));
  return negotiated;
}

/** A Status is never given another shape. */
export function sendSpecial(
  answer: AskedForm & Answer,
  special: SpecialRest,
  status: number,
  object: UnknownObject,
  negotiated: Negotiated = plainJson,
): void {
  const shaped = object.kind === 'Status' ? object : inShape(answer, special, object, negotiated);
  sendValue(answer, status, shaped, negotiated);
}

function inShape(
  { query, now }: AskedForm & Answer,
  { kind, printer }: SpecialRest,
  object: Listed,
  negotiated: Negotiated,
): object {
  const { as, apiVersion } = negotiated;
  if (as === undefined) return object;
  const { items } = object;
  if (as === 'Table') {
    if (!printer) return object;
    const include = includeObjectOf(query);
    const rows = (items ?? [object]).map((item) => ({
      cells: printer.cells(item as never, now),
      object: shownObject(item, include, apiVersion),
    }));
    return { kind: 'Table', apiVersion, metadata: {}, columnDefinitions: describeColumns(printer.columns), rows };
  }
  const type = `*${kind.group === '' ? 'core' : kind.group.split('.')[0]}.${object.kind}`;
  const wrong = (what: string): StatusError =>
    new StatusError({
      code: 406,
      reason: 'NotAcceptable',
      message: `you requested ${as}, but the requested object is ${what} (${type})`,
    });
  if (as === 'PartialObjectMetadata') {
    if (items) throw wrong('a list');
    return partialMetadata(object, apiVersion);
  }
  if (!items) throw wrong('not a list');
  return { kind: as, apiVersion, metadata: object.metadata, items: items.map((item) => partialMetadata(item, apiVersion)) };
}

const shownObject = (object: UnknownObject, include: IncludeObject, apiVersion: string): object | null =>
  include === 'None' ? null : include === 'Object' ? object : partialMetadata(object, apiVersion);
