// What another server answers, read by the type that it is of, with the limits of a request's body: a text where a truth value belongs is an error, as
// upstream's decoder has it, and not taken for consent.
import { builtinSchema } from '#api';
import { decode, parsingJson, type SchemaTable } from '#apimachinery/schema';
import { finish, type Steps } from '#utils';

/** Throws `DecodeError`. `T`: what `typeName` is in TypeScript. */
export const readAnswer = <T>(text: string, typeName: string, table?: SchemaTable): T =>
  finish(readingAnswer<T>(text, typeName, table));

/** `readAnswer` in steps, for answers that may be megabytes long. */
export function* readingAnswer<T>(text: string, typeName: string, table: SchemaTable = builtinSchema()): Steps<T> {
  const { value } = yield* parsingJson(text);
  yield;
  return decode(table, typeName, value).object as T;
}
