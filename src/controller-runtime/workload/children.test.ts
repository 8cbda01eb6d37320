import { describe, expect, it } from 'vitest';
import { everything } from '#apimachinery/labels';
import type { KubeObject } from '#apimachinery/meta';
import type { Cache } from '../types.ts';
import { type OwnerKind, watchRevisions } from './children.ts';

const sets = { group: 'apps', version: 'v1', resource: 'daemonsets' };
const owner: OwnerKind<KubeObject> = { kind: 'DaemonSet', apiVersion: 'apps/v1', resource: sets, selector: () => everything };
const set: KubeObject = { metadata: { name: 'set', namespace: 'ns', uid: 'set' } };
const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'set', uid: 'set', controller: true }];
const revision = (more: object = {}): KubeObject => ({ metadata: { name: 'r', namespace: 'ns', uid: 'r', ...more } });

/** The keys of the owners that are looked at; `known`: what the cache has of the revision. */
function woken(now: KubeObject, { old, known }: { old?: KubeObject; known?: KubeObject }): string[] {
  const cache = { get: () => known, list: () => [set] } as unknown as Cache;
  return [...(watchRevisions(owner).keys?.(now, old, cache) ?? [])];
}

describe('a revision of a workload', () => {
  const owned = revision({ ownerReferences });
  it('wakes nobody when it comes with its controller', () => expect(woken(owned, { known: owned })).toEqual([]));
  it('wakes its controller when it changes, and when it goes', () => {
    expect(woken(owned, { old: owned, known: owned })).toEqual(['ns/set']);
    expect(woken(owned, {})).toEqual(['ns/set']);
  });
  it('wakes whoever would take it when it has none', () => expect(woken(revision(), { known: revision() })).toEqual(['ns/set']));
});
