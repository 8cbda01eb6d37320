// An OpenAPI document as bytes, in steps: it is megabytes long, and everybody waits for the thread that writes it.
import type { Steps } from '#utils';
import { createHash } from '../../platform/crypto.ts';
import { encodeOpenApiV2 } from './protobuf.ts';

export const json = 'application/json';
export const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

export interface Rendered {
  bytes: Buffer;
  etag: string;
}

/**
 * Renders a document. Each form has its own tag, where upstream uses the tag of the JSON for all: a client that holds one form under the tag of
 * another, as kubectl's cache may from a server that had only JSON, is then not told "not modified".
 */
export function* rendering(form: string, document: object): Steps<Rendered> {
  const bytes = Buffer.from(form === protobuf ? yield* encodeOpenApiV2(document) : yield* jsonOf(document, longLevels));
  yield;
  return { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
}

/** Paths and types stand at the second level of version 2, types at the third of version 3. */
const longLevels = 3;

/** The JSON as JSON.stringify writes it. The work may pause between any two members of the first `levels` levels. */
function* jsonOf(value: unknown, levels: number): Steps<string> {
  if (levels === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    members.push(`${JSON.stringify(name)}:${yield* jsonOf(member, levels - 1)}`);
    yield;
  }
  return `{${members.join(',')}}`;
}
