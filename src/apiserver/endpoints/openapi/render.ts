// An OpenAPI document as bytes, in steps: it is megabytes long, and everybody waits for the thread that writes it.
import { writingJson } from '#apimachinery/schema';
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
  const bytes = Buffer.from(form === protobuf ? yield* encodeOpenApiV2(document) : yield* writingJson(document));
  yield;
  return { bytes, etag: `"${createHash('sha512').update(bytes).digest('hex').toUpperCase()}"` };
}
