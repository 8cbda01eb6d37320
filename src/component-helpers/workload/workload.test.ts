import { describe, expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { claims, deletionOrder, setCondition, setSelector, stableHash, workloadSelector } from './index.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

describe('deletion order', () => {
  const pod = (
    name: string,
    extra: { node?: string; phase?: string; ready?: string; cost?: string; created?: string; restarts?: number },
  ): Pod => ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: extra.created ?? '2026-01-01T00:00:00Z',
      ...(extra.cost !== undefined && { annotations: { 'controller.kubernetes.io/pod-deletion-cost': extra.cost } }),
    },
    spec: { containers: [], ...(extra.node !== '' && { nodeName: extra.node ?? 'n' }) },
    status: {
      phase: extra.phase ?? 'Running',
      conditions: [
        {
          type: 'Ready',
          status: extra.ready === '' ? 'False' : 'True',
          lastTransitionTime: extra.ready || '2026-01-01T00:00:00Z',
        },
      ],
      containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: extra.restarts ?? 0 }],
    },
  });
  test.each([
    ['without a node first', pod('a', {}), pod('b', { node: '' })],
    ['pending before running', pod('a', {}), pod('b', { phase: 'Pending' })],
    ['not ready before ready', pod('a', {}), pod('b', { ready: '' })],
    ['cheap before dear', pod('a', { cost: '5' }), pod('b', { cost: '-1' })],
    ['ready for a shorter time first', pod('a', {}), pod('b', { ready: '2026-01-01T00:59:59Z' })],
    ['more restarts first', pod('a', {}), pod('b', { restarts: 3 })],
    ['younger first', pod('a', {}), pod('b', { created: '2026-01-01T00:59:59Z' })],
  ])('%s', (_, later, first) => {
    expect(deletionOrder([later, first], () => 0, now).map(({ metadata }) => metadata.name)).toEqual(['b', 'a']);
  });
  test('crowded nodes first', () => {
    const order = deletionOrder(
      [pod('a', { node: 'n' }), pod('b', { node: 'm' })],
      ({ spec }) => (spec?.nodeName === 'm' ? 2 : 1),
      now,
    );
    expect(order[0]?.metadata.name).toBe('b');
  });
});

test('claims: own, adoptable, releasable; others are left out', () => {
  const owner = { metadata: { uid: 'o' } };
  const child = (name: string, uid: string | undefined, app: string, leaving = false) => ({
    metadata: {
      name,
      labels: { app },
      ...(uid && { ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'k', uid, controller: true }] }),
      ...(leaving && { deletionTimestamp: 'now' }),
    },
  });
  const children = [
    child('own', 'o', 'x'),
    child('strange', 'o', 'y'),
    child('orphan', undefined, 'x'),
    child('leaving', undefined, 'x', true),
    child('unselected', undefined, 'y'),
    child('other', 'p', 'x'),
  ];
  const names = (list: { metadata: { name: string } }[]) => list.map(({ metadata }) => metadata.name);
  const found = claims(owner, children, ({ metadata }) => metadata.labels.app === 'x');
  expect([names(found.owned), names(found.adoptable), names(found.releasable)]).toEqual([['own'], ['orphan'], ['strange']]);
  const leaving = claims(
    { metadata: { uid: 'o', deletionTimestamp: 'now' } },
    children,
    ({ metadata }) => metadata.labels.app === 'x',
  );
  expect([names(leaving.owned), names(leaving.adoptable), names(leaving.releasable)]).toEqual([['own'], [], []]);
});

test('hashes do not depend on the order of keys, but on content and collisions', () => {
  expect(stableHash({ a: 1, b: [1, 2] })).toBe(stableHash({ b: [1, 2], a: 1, c: undefined }));
  const variants = [stableHash({ a: 1 }), stableHash({ a: 2 }), stableHash({ a: 1 }, 0), stableHash({ a: 1 }, 1)];
  expect(new Set(variants).size).toBe(4);
  for (const hash of variants) expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
});

test('a selector that is missing or empty owns nothing', () => {
  for (const selector of [undefined, {}]) expect(workloadSelector(selector).matches({ a: 'b' })).toBe(false);
  for (const selector of [undefined, {}]) expect(setSelector(selector).matches({ a: 'b' })).toBe(false);
  expect(setSelector({ a: 'b' }).matches({ a: 'b', c: 'd' })).toBe(true);
});

test('a condition keeps its time while status and reason are the same', () => {
  const first = setCondition([], { type: 'T', status: 'True', reason: 'R', lastTransitionTime: '1' });
  expect(setCondition(first, { type: 'T', status: 'True', reason: 'R', lastTransitionTime: '2' })).toEqual(first);
  expect(setCondition(first, { type: 'T', status: 'False', reason: 'R', lastTransitionTime: '2' })).toEqual([
    { type: 'T', status: 'False', reason: 'R', lastTransitionTime: '2' },
  ]);
});
