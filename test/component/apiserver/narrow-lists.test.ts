// Lists and watches of what a name or an index leads to: the same objects, pages and events as by looking at all of them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConfigMap, Pod } from '#api/core/v1';
import type { KubeClient } from '#client';
import { startTestControlPlane, type TestControlPlane } from '../../../src/testing/control-plane.ts';
import { virtualClock } from '#testing';

const pods = { group: '', version: 'v1', resource: 'pods' };
let plane: TestControlPlane;
let client: KubeClient;
const names = Array.from({ length: 30 }, (_, at) => `pod-${String(at).padStart(2, '0')}`);
const nodeOf = (at: number): string | undefined => (at % 3 === 0 ? undefined : `node-${at % 3}`);

beforeAll(async () => {
  plane = await startTestControlPlane({ clock: virtualClock() });
  ({ client } = plane);
  for (const namespace of ['a', 'b'])
    for (const [at, name] of names.entries()) {
      const nodeName = nodeOf(at);
      const spec = { containers: [{ name: 'c', image: 'i' }], ...(nodeName && { nodeName }) };
      await client.resource<Pod>(pods, namespace).create({ metadata: { name }, spec } as Pod);
    }
});
afterAll(() => plane.stop());

type Query = Record<string, string | number>;
interface Page {
  items: Pod[];
  metadata: { continue?: string; remainingItemCount?: number };
}

async function list(namespace: string | undefined, query: Query, resource = 'pods'): Promise<Page> {
  const path = `/api/v1/${namespace ? `namespaces/${namespace}/` : ''}${resource}`;
  const text = new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]));
  const answer = await client.transport.raw('GET', `${path}?${text.toString()}`);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text) as Page;
}

const keys = ({ items }: Page): string[] => items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
const expected = (namespaces: string[], wanted: (at: number) => boolean): string[] =>
  namespaces.flatMap((namespace) => names.filter((_, at) => wanted(at)).map((name) => `${namespace}/${name}`));

it.each<[string, string | undefined, string, string[]]>([
  ['of a node', undefined, 'spec.nodeName=node-1', expected(['a', 'b'], (at) => at % 3 === 1)],
  ['of a node in a namespace', 'b', 'spec.nodeName=node-2', expected(['b'], (at) => at % 3 === 2)],
  ['of no node', undefined, 'spec.nodeName=', expected(['a', 'b'], (at) => at % 3 === 0)],
  ['of a node there is not', undefined, 'spec.nodeName=node-9', []],
  ['of a name', 'a', 'metadata.name=pod-07', ['a/pod-07']],
  ['of a name in all namespaces', undefined, 'metadata.name=pod-07', ['a/pod-07', 'b/pod-07']],
  ['of a name and a node', 'a', 'metadata.name=pod-07,spec.nodeName=node-2', []],
  ['of a namespace', undefined, 'metadata.namespace=b', expected(['b'], () => true)],
])('pods %s', async (_, namespace, fieldSelector, wanted) => {
  expect(keys(await list(namespace, { fieldSelector }))).toEqual(wanted);
});

it('pages of what an index leads to go on where they ended', async () => {
  const seen: string[] = [];
  let token = '';
  for (let pages = 0; pages < 10; pages++) {
    const page = await list(undefined, { fieldSelector: 'spec.nodeName=node-1', limit: 6, ...(token && { continue: token }) });
    seen.push(...keys(page));
    token = page.metadata.continue ?? '';
    if (token === '') break;
    expect(page.items).toHaveLength(6);
  }
  expect(seen).toEqual(expected(['a', 'b'], (at) => at % 3 === 1));
});

it('a page tells how many more there are', async () => {
  const first = await list(undefined, { limit: 7 });
  expect(first.metadata.remainingItemCount).toBe(2 * names.length - 7);
  const second = await list(undefined, { limit: 7, continue: first.metadata.continue ?? '' });
  expect(second.metadata.remainingItemCount).toBe(2 * names.length - 14);
  expect((await list('a', { limit: 29 })).metadata.remainingItemCount).toBe(1);
  expect((await list('a', { limit: 30 })).metadata).not.toHaveProperty('continue');
});

// More of them than a label is indexed from on.
const maps = Array.from({ length: 600 }, (_, at) => `map-${String(at).padStart(3, '0')}`);

it('pages of what labels lead to are the same before and after they are indexed', async () => {
  const configMaps = client.resource<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps' }, 'a');
  await Promise.all(
    maps.map((name, at) => configMaps.create({ metadata: { name, labels: { tenth: String(at % 60) } } } as ConfigMap)),
  );
  const pages = async (limit: number): Promise<string[][]> => {
    const seen: string[][] = [];
    let token = '';
    do {
      const query = { labelSelector: 'tenth in (7,8),other!=x', limit, ...(token && { continue: token }) };
      const page = await list('a', query, 'configmaps');
      seen.push(keys(page));
      token = page.metadata.continue ?? '';
    } while (token !== '');
    return seen;
  };
  const first = await pages(5);
  expect(first.flat()).toEqual(maps.filter((_, at) => at % 60 === 7 || at % 60 === 8).map((name) => `a/${name}`));
  // The last page is full; that no object behind it is selected is seen on the next one.
  expect(first.map(({ length }) => length)).toEqual([5, 5, 5, 5, 0]);
  for (let again = 0; again < 3; again++) expect(await pages(5)).toEqual(first);
  expect(await pages(0)).toEqual([first.flat()]);
  await configMaps.delete(maps[7] as string);
  await configMaps.patch(maps[8] as string, 'application/merge-patch+json', { metadata: { labels: { tenth: '9' } } });
  expect(await pages(0)).toEqual([first.flat().slice(2)]);
});

it('pods are selected by the name that their node had as a field once', async () => {
  const [now, once] = [
    await list('a', { fieldSelector: 'spec.nodeName=node-1' }),
    await list('a', { fieldSelector: 'spec.host=node-1' }),
  ];
  expect(keys(once)).toEqual(keys(now));
  expect(once.items).toHaveLength(10);
});
