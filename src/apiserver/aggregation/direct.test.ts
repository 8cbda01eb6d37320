import { expect, test } from 'vitest';
import type { Incoming } from '../chain/incoming.ts';
import { callRemote } from './direct.ts';
import type { Remote, RemoteConnections } from './remotes.ts';

/** What a component of this process is given when another API server answers that. */
function answered(verb: string, text: string): Promise<unknown> {
  const answer = { status: 200, headers: {}, text: () => Promise.resolve(text) };
  const client = { request: () => Promise.resolve(answer) };
  const connections = { to: () => ({ client, host: 'h' }) } as unknown as RemoteConnections;
  const target = { group: 'g', version: 'v1', resource: 'things', subresource: '', namespace: '', name: '' };
  const user = { name: 'u', groups: [] };
  const request = {
    method: 'GET',
    uri: '/',
    user,
    verb,
    target,
    body: {},
    cancellation: { signal: new AbortController().signal },
  };
  return callRemote(connections, { available: true } as Remote, request as unknown as Incoming);
}

test('what another server answers is given on with metadata of their type', async () => {
  const thing = { metadata: { name: 'a', labels: { b: 'c' } }, spec: 7 };
  expect(await answered('get', JSON.stringify(thing))).toEqual(thing);
  expect(await answered('list', JSON.stringify({ metadata: {}, items: [thing] }))).toEqual({ metadata: {}, items: [thing] });
  expect(await answered('list', '{"items":null}')).toEqual({ metadata: {}, items: [] });
});

test.each([
  ['list', '{"items":[null]}'],
  ['list', '{"items":[{"metadata":{"name":5}}]}'],
  ['list', '{"items":[{"metadata":{"ownerReferences":{"length":1}}}]}'],
  ['list', '5'],
  ['get', 'null'],
  ['get', '[]'],
  ['get', '{"metadata":"x"}'],
  ['get', '{"metadata":{"finalizers":"x"}}'],
  ['get', '{"metadata":{"deletionTimestamp":{}}}'],
])('and is an error where they are not: %s %s', async (verb, text) => {
  await expect(answered(verb, text)).rejects.toThrow();
});
