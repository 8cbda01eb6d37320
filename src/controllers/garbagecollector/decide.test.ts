import { describe, expect, it } from 'vitest';
import type { KubeObject, ObjectMeta, OwnerReference } from '#apimachinery/meta';
import type { DiscoveredResource, Effect } from '#controller-runtime';
import { decide } from './decide.ts';
import type { Item, Owner, OwnerState } from './graph.ts';

const resource: DiscoveredResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: ['delete', 'list', 'watch'],
  preferred: true,
};
const refTo = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: name,
  ...more,
});
const item = (name: string, more: Partial<ObjectMeta> = {}): Item => {
  const object: KubeObject = { metadata: { name, namespace: 'ns', uid: name, resourceVersion: '1', ...more } };
  return { resource, object };
};
const ownedBy = (...owners: [string, OwnerState][]) => ({
  item: item('it', { ownerReferences: owners.map(([name]) => refTo(name)) }),
  owners: owners.map(([name, state]): Owner => ({ ref: refTo(name), state })),
});
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

const text = (effect: Effect): string => {
  if (effect.op === 'parallel') return effect.effects.map(text).join(' ');
  if (effect.op === 'delete') return `delete ${effect.ref.name} ${effect.options?.propagationPolicy}`;
  if (effect.op !== 'patch') return effect.op;
  const { ownerReferences, finalizers } = (effect.body as KubeObject).metadata;
  return `${effect.ref.name} ${ownerReferences ? `owners=${ownerReferences.map(({ uid, blockOwnerDeletion }) => `${uid}${blockOwnerDeletion === false ? '(free)' : ''}`).join()}` : `finalizers=${finalizers?.join()}`}`;
};
const decided = (graph: Partial<Parameters<typeof decide>[0]>): string[] =>
  decide({ item: undefined, owners: [], dependents: [], fresh: false, ...graph }).effects.map(text);

describe('what becomes of an object', () => {
  const child = item('child', { ownerReferences: [refTo('it', { blockOwnerDeletion: true }), refTo('else')] });
  const free = item('child', { ownerReferences: [refTo('it')] });
  const waitingChild = item('child', { ...deleting, finalizers: ['foregroundDeletion'], ownerReferences: [refTo('it')] });

  it.each<[string, Partial<Parameters<typeof decide>[0]>, string[]]>([
    ['it is gone', {}, []],
    ['nobody owns it', { item: item('it') }, []],
    ['its owner is there', ownedBy(['a', 'solid']), []],
    ['its owner is gone', ownedBy(['a', 'absent']), ['delete it Background']],
    ['one of two is gone', ownedBy(['a', 'solid'], ['b', 'absent']), ['it owners=a']],
    ['one of two waits', ownedBy(['a', 'waiting'], ['b', 'solid']), ['it owners=b']],
    ['its owner waits', ownedBy(['a', 'waiting']), ['delete it Background']],
    ['its owner waits and it owns others', { ...ownedBy(['a', 'waiting']), dependents: [child] }, ['delete it Foreground']],
    [
      'a ring of waiting owners',
      { ...ownedBy(['a', 'waiting']), dependents: [waitingChild] },
      ['it owners=a', 'delete it Foreground'],
    ],
    [
      'it is going already',
      { item: item('it', { ...deleting, ownerReferences: [refTo('a')] }), owners: [{ ref: refTo('a'), state: 'absent' }] },
      [],
    ],
    [
      'it is to leave orphans',
      { item: item('it', { ...deleting, finalizers: ['orphan', 'x'] }), dependents: [child] },
      ['child owners=else', 'it finalizers=x'],
    ],
    [
      'it waits for a blocking dependent',
      { item: item('it', { ...deleting, finalizers: ['foregroundDeletion'] }), dependents: [child] },
      [],
    ],
    [
      'nothing blocks it any more',
      { item: item('it', { ...deleting, finalizers: ['foregroundDeletion'] }), dependents: [free] },
      ['it finalizers='],
    ],
    ['an owner of no known kind', ownedBy(['a', 'unknown']), []],
    ['a namespaced owner of a cluster object', ownedBy(['a', 'misplaced']), []],
  ])('%s', (_name, graph, expected) => {
    expect(decided(graph)).toEqual(expected);
  });

  it('asks the server before it concludes', () => {
    const ask = { resource, namespace: 'ns', name: 'a' };
    const graph = ownedBy(['a', 'ask']);
    expect(decide({ ...graph, owners: [{ ref: refTo('a'), state: 'ask', ask }], dependents: [], fresh: false })).toEqual({
      effects: [],
      needsLive: [ask],
    });
  });

  it('deletes what it saw, and after a conflict what it just read', () => {
    const [first] = decide({ ...ownedBy(['a', 'absent']), dependents: [], fresh: false }).effects;
    const [second] = decide({ ...ownedBy(['a', 'absent']), dependents: [], fresh: true }).effects;
    expect(first).toMatchObject({ options: { preconditions: { uid: 'it', resourceVersion: '1' } } });
    expect(second?.op === 'delete' && second.options?.preconditions).toEqual({ uid: 'it' });
  });
});
