import { describe, expect, it } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '#api/core/v1';
import { reconcileClaimProtection } from './index.ts';

const claim: PersistentVolumeClaim = {
  metadata: {
    name: 'data',
    namespace: 'shop',
    finalizers: ['kubernetes.io/pvc-protection'],
    deletionTimestamp: '2026-01-01T00:00:00Z',
  },
};
const named = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const own = { name: 'data', ephemeral: {} };
const pod = (volume: object, phase: string, more: object = {}, nodeName = 'node-1'): Pod => ({
  metadata: { name: 'web', namespace: 'shop', ...more },
  spec: { nodeName, containers: [], volumes: [volume as typeof named] },
  status: { phase },
});
const isKept = (user: Pod): boolean => reconcileClaimProtection({ claim, pods: [user] }).effects.length === 0;

describe('a claim that is being deleted', () => {
  it('stays as long as a node may have its volume, also for a pod that has finished', () => {
    for (const phase of ['Running', 'Succeeded', 'Failed'])
      expect([isKept(pod(named, phase)), isKept(pod(own, phase))], phase).toEqual([true, true]);
  });
  it('stays for a pod that names it until the pod is gone, and goes with a pod that it was made for when that is shut down', () => {
    const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const stopping = { ...deleted, deletionGracePeriodSeconds: 30 };
    const shutDown = { ...deleted, deletionGracePeriodSeconds: 0 };
    expect([isKept(pod(own, 'Succeeded', stopping)), isKept(pod(own, 'Succeeded', shutDown))]).toEqual([true, false]);
    expect([isKept(pod(named, 'Succeeded', stopping)), isKept(pod(named, 'Succeeded', shutDown))]).toEqual([true, true]);
  });
  it('goes when its pods are on no node, or there are none', () => {
    expect(isKept(pod(named, 'Pending', {}, ''))).toBe(false);
    expect(reconcileClaimProtection({ claim, pods: [] }).effects).toHaveLength(1);
  });
});
