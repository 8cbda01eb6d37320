import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { compressBytesMin } from '../limits.ts';
import { type Answer, sendBytes } from './respond.ts';

function answer(acceptsGzip: boolean): { bodies: Buffer[]; to: Answer } {
  const bodies: Buffer[] = [];
  const response = { send: (_status: number, _headers: object, body: Buffer) => void bodies.push(body) };
  return { bodies, to: { response, acceptsGzip, headers: () => ({}) } as unknown as Answer };
}

const text = 'a'.repeat(compressBytesMin * 2);

it('packs once what is sent to many', () => {
  const document = Buffer.from(text);
  const { bodies, to } = answer(true);
  for (let times = 0; times < 2; times++) sendBytes(to, 200, 'application/json', document, {}, true);
  expect(bodies[1]).toBe(bodies[0]);
  expect(gunzipSync(bodies[0] as Buffer).toString()).toBe(text);
  // What shares memory with something else is not taken for it.
  sendBytes(to, 200, 'application/json', document.subarray(1), {}, true);
  expect(gunzipSync(bodies[2] as Buffer)).toHaveLength(text.length - 1);
});

it('sends the bytes themselves to who wants them plain', () => {
  const document = Buffer.from(text);
  const { bodies, to } = answer(false);
  sendBytes(to, 200, 'application/json', document, {}, true);
  expect(bodies[0]?.buffer).toBe(document.buffer);
});
