import { describe, expect, it } from 'vitest';
import { errorOf } from './errors.ts';

const errorText = (headers: Record<string, string>, body: string): string =>
  errorOf({ method: 'GET', url: '/v2/regions', status: 503, headers: new Headers(headers), body }, 0).message;

describe("the request's ID in an error", () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['that of the body', {}, '{"id":"x","message":"maintenance","request_id":"r-1"}', '503 (request "r-1") maintenance'],
    [
      'that of the header where the body has none',
      { 'x-request-id': 'r-2' },
      '{"message":"maintenance"}',
      '503 (request "r-2") maintenance',
    ],
    ['that of the header of an answer that is not JSON', { 'x-request-id': 'r-3' }, '<html>', '503 (request "r-3")'],
    ['that of the body before that of the header', { 'x-request-id': 'r-2' }, '{"request_id":"r-1"}', '503 (request "r-1")'],
    [
      'that of the header where the one of the body is no text',
      { 'x-request-id': 'r-2' },
      '{"request_id":{}}',
      '503 (request "r-2")',
    ],
    ['in quotes, whatever is in it', {}, '{"request_id":"a\\n\\"b"}', '503 (request "a\\n\\"b")'],
    ['nowhere', {}, '{"message":"maintenance"}', '503 maintenance'],
  ])('is %s', (_which, headers, body, expected) => expect(errorText(headers, body)).toBe(`GET /v2/regions: ${expected}`));
});
