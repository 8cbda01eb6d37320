// One operation of the API as data: from it come the server's routing and validation, the OpenAPI document and the typed client. Pure.
import * as z from 'zod';
import { once } from '#utils';
import { tags } from '../model/index.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Operation {
  readonly method: Method;
  /** The path with its parameters in braces: `/v1/vpcs/{vpcId}`. */
  readonly path: string;
  readonly summary: string;
  /** Query parameters; of lists also `tag.KEY=VALUE`, which becomes `tags`. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** Absent: the answer has no body. */
  readonly response?: z.ZodType;
  readonly success: 200 | 201 | 204;
}

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;
type Given<Schema> = Schema extends z.ZodObject ? z.input<Schema> : unknown;
type Parsed<Schema> = Schema extends z.ZodObject ? z.output<Schema> : unknown;
type Part<O, Key extends string> = O extends { readonly [K in Key]: infer Schema } ? Schema : undefined;

/** What a caller gives: parameters of the path, of the query and fields of the body in one object. */
export type InputOf<O extends Operation> = Record<ParameterNames<O['path']>, string> &
  Given<Part<O, 'query'>> &
  Given<Part<O, 'body'>>;
/** The input of an operation as the server sees it: checked, and with defaults filled in. */
export type ParsedInputOf<O extends Operation> = Record<ParameterNames<O['path']>, string> &
  Parsed<Part<O, 'query'>> &
  Parsed<Part<O, 'body'>>;
export type OutputOf<O extends Operation> = Part<O, 'response'> extends z.ZodType ? z.output<Part<O, 'response'>> : undefined;

export const parameterNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');

/** An operation as it is declared. Schemas are made when first used: a program asks for a few operations, and schemas take their time. */
type Declared = Omit<Operation, 'query' | 'body' | 'response'> & {
  readonly query?: () => z.ZodObject;
  readonly body?: () => z.ZodObject;
  readonly response?: () => z.ZodType;
};
type Made<D> = { readonly [Key in keyof D]: D[Key] extends (() => infer Schema) | undefined ? Schema : D[Key] };

/** Keeps the literal types of what is declared. */
export function operation<const D extends Declared>(declared: D): Made<D> {
  const made = {};
  for (const [key, value] of Object.entries(declared)) {
    const get = typeof value === 'function' ? once<unknown>(value) : () => value;
    Object.defineProperty(made, key, { enumerable: true, get });
  }
  return made as Made<D>;
}

/** The schema of a name, in whichever request there is one. */
export const name = z.string().min(1).max(255);
export const description = z.string().max(255);
export const newTags = tags.refine((given) => Object.keys(given).length <= 50, 'at most 50 tags');
/** A token that makes a creation repeatable: the same token with the same request leads to one resource, however often it is sent within a day. */
export const clientToken = z.string().min(1).max(64).optional();
/** The input that every request has that makes something. */
export const creation = once(() => ({ tags: newTags.default({}), clientToken }));
/** The input that every request for a list has. */
export const paging = once(() => ({
  /** Only those with all of these: `tag.KEY=VALUE`. */
  tags: tags.optional(),
  limit: z.coerce.number<number>().int().min(1).max(1000).default(100),
  /** `nextToken` of the page before. */
  nextToken: z.string().max(512).optional(),
}));
/** The output of a request for a list: one page of it. */
export const page =
  <Item extends z.ZodType>(item: () => Item) =>
  () =>
    z.object({ items: z.array(item()), nextToken: z.string().optional() });
