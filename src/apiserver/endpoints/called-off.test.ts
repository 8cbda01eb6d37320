// A list or watch that is long work ends at its next pause once nobody waits for it.
import { expect, it } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import type { Incoming } from '../chain/incoming.ts';
import type { ServedResource, WriteSettings } from '../registry/generic/types.ts';
import { Cancellation, NoAnswerError } from '../request/cancellation.ts';
import { ResourceCache } from '../storage/resource-cache.ts';
import { execute } from './execute.ts';

const objects = 2_000;

function resourceOf(): ServedResource {
  const cache = new ResourceCache({
    prefix: '/registry/configmaps/',
    namespaced: true,
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as UnknownObject,
    finish() {},
    now: () => 0,
    onBadValue() {},
    onBadReader() {},
  });
  const kvs = Array.from({ length: objects }, (_, at) => {
    const metadata = { name: `c${at}`, namespace: 'n', labels: { app: 'a' } };
    const value = Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata }));
    return { key: `/registry/configmaps/n/c${at}`, value, createRevision: 1, modRevision: 1, version: 1, lease: 0 };
  });
  cache.load(kvs, 1);
  const feed = { revision: 1, current: () => Promise.resolve(1), waitFor: () => Promise.resolve() };
  const storage = { prefix: '/registry/configmaps/', cache, feed };
  return {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespaced: true,
    definition: {},
    storage,
  } as unknown as ServedResource;
}

it.each(['list', 'watch'])('%s', async (verb) => {
  const resource = resourceOf();
  const reach = async (callOffAfter: number): Promise<{ pauses: number; error: unknown }> => {
    const client = new AbortController();
    let pauses = 0;
    const settings = {
      rest: () => {
        if (++pauses === callOffAfter) client.abort();
        return Promise.resolve();
      },
    } as unknown as WriteSettings;
    const target = { group: '', version: 'v1', resource: 'configmaps', subresource: '', namespace: 'n', name: '' };
    const options = { labelSelector: 'app!=b', ...(verb === 'watch' && { watch: true }) };
    const request = { verb, target, options, cancellation: new Cancellation(() => client.signal) } as unknown as Incoming;
    const failed = execute({ request, resource, settings }).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { error: await failed, pauses };
  };
  const whole = await reach(Infinity);
  expect(whole.error).toBeUndefined();
  expect(whole.pauses).toBeGreaterThan(10);
  const calledOff = await reach(2);
  expect(calledOff.error).toBeInstanceOf(NoAnswerError);
  expect(calledOff.pauses).toBe(2);
});
