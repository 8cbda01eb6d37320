// What another server answers, read by the type that it is of, with the limits of a request's body: a text where a truth value belongs is an error, as
// upstream's decoder has it, and not taken for consent.
import { builtinSchema } from '#api';
import { decode, parseJson, type SchemaTable } from '#apimachinery/schema';

/** Throws `DecodeError`. `T`: what `typeName` is in TypeScript. */
export const readAnswer = <T>(text: string, typeName: string, table: SchemaTable = builtinSchema()): T =>
  decode(table, typeName, parseJson(text).value).object as T;
