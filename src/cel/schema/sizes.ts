// How large values of a schema can be, for estimates of cost (k8s.io/apiserver/pkg/cel/common, SchemaDeclType): by the limits that the schema
// states, else by what fits into a request.
import { own } from '#utils';
import { escapeName, type SchemaShape } from './schema.ts';
import { sizedRequestBytesMax } from '../limits.ts';

export interface Sized {
  /** Items, entries or characters; 0 of what has no length. */
  max: number;
  /** Bytes of the smallest such value as JSON. */
  leastBytes: number;
  items?: Sized;
  keys?: Sized;
  /** By the names that CEL gives them. */
  fields?: ReadonlyMap<string, Sized>;
  /** The size of every field that `fields` does not name. */
  anyField?: Sized;
}

/** The limits of a schema that sizes follow from. */
export interface SizedShape extends SchemaShape {
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  enum?: readonly unknown[];
  required?: readonly string[];
  default?: unknown;
  properties?: Record<string, SizedShape>;
  additionalProperties?: SizedShape | boolean;
  items?: SizedShape;
}

const requestMax = sizedRequestBytesMax - 2;
/** A character may be four bytes. */
const charBytesMax = 4;
const fixed: Readonly<Record<string, Sized>> = {
  boolean: { max: 0, leastBytes: 4 },
  integer: { max: 0, leastBytes: 1 },
  number: { max: 0, leastBytes: 1 },
};
const timesOf: Readonly<Record<string, Sized>> = {
  duration: { max: 32, leastBytes: 3 },
  date: { max: 12, leastBytes: 12 },
  'date-time': { max: 32, leastBytes: 21 },
};
const key: Sized = { max: 0, leastBytes: 2 };
const text: Sized = { max: requestMax, leastBytes: 2 };
const metadata: Sized = {
  max: 0,
  leastBytes: 2,
  fields: new Map([
    ['name', text],
    ['generateName', text],
  ]),
};

const known = new WeakMap<SizedShape, Sized | null>();

/** How large the values of a schema may be; undefined where CEL does not see them. */
export function sizesOf(schema: SizedShape, isRoot = false): Sized | undefined {
  const found = known.get(schema);
  if (found !== undefined) return found ?? undefined;
  const made = sized(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true);
  known.set(schema, made ?? null);
  return made;
}

function sized(schema: SizedShape, isResource: boolean): Sized | undefined {
  const { type = '', maxLength } = schema;
  if (schema['x-kubernetes-int-or-string'])
    return { max: maxLength === undefined ? requestMax : Math.max(0, maxLength) * charBytesMax, leastBytes: 1 };
  if (type === 'array') return arraySize(schema);
  if (type === 'object') return objectSize(schema, isResource);
  return type === 'string' ? textSize(schema) : own(fixed, type);
}

function textSize({ format = '', maxLength, enum: words }: SizedShape): Sized {
  const time = own(timesOf, format);
  if (time) return time;
  const max = maxLength === undefined ? undefined : Math.max(0, maxLength);
  if (format === 'byte') return { max: max ?? requestMax, leastBytes: 2 };
  if (max !== undefined) return { max: max * charBytesMax, leastBytes: 2 };
  if (!words?.length) return text;
  const encoder = new TextEncoder();
  const lengths = words.map((word) => (typeof word === 'string' ? encoder.encode(word).length : 0));
  return { max: lengths.reduce((longest, length) => Math.max(longest, length), 0), leastBytes: 2 };
}

function arraySize({ items, maxItems }: SizedShape): Sized | undefined {
  const of = items && sizesOf(items);
  if (!of) return undefined;
  const max = maxItems === undefined ? Math.floor(requestMax / (of.leastBytes + 1)) : Math.max(0, maxItems);
  return { max, leastBytes: 2, items: of };
}

function objectSize(schema: SizedShape, isResource: boolean): Sized | undefined {
  const { additionalProperties: more, maxProperties } = schema;
  if (typeof more === 'object') {
    const of = sizesOf(more);
    if (!of) return undefined;
    // A key, a colon and a comma beside the value.
    const max = maxProperties === undefined ? Math.floor(requestMax / (of.leastBytes + 6)) : Math.max(0, maxProperties);
    return { max, leastBytes: 2, keys: key, items: of };
  }
  const required = new Set(schema.required);
  const fields = new Map<string, Sized>();
  let leastBytes = 2;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const of = sizesOf(property);
    if (!of) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) fields.set(escaped, of);
    if (required.has(name) && property.default === undefined) leastBytes += name.length + of.leastBytes + 4;
  }
  if (isResource && !statesMetadata(schema))
    for (const [name, of] of Object.entries({ apiVersion: text, kind: text, metadata })) fields.set(name, of);
  return { max: 0, leastBytes, fields };
}

/** Whether the schema says itself what every resource has. */
function statesMetadata({ properties: { apiVersion, kind, metadata: meta } = {} }: SizedShape): boolean {
  const texts = [apiVersion, kind, meta?.properties?.['name'], meta?.properties?.['generateName']];
  return meta?.type === 'object' && texts.every((one) => one?.type === 'string');
}

/** How often a value can be in one object at most: so many fit into a request. */
export const timesInRequest = ({ leastBytes }: Sized): number => Math.floor(sizedRequestBytesMax / (leastBytes + 1));
