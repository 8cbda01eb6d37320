import { expect, it } from 'vitest';
import type { Pod, ResourceQuota } from '#api/core/v1';
import type { GroupVersionResource } from '#apimachinery/meta';
import type { Cache, DiscoveredResource } from '#controller-runtime';
import { defaultControllersConfig } from '../config.ts';
import { resourceQuotaController } from './index.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const pod: Pod = { metadata: { name: 'p', namespace: 'n' }, spec: { containers: [] } };
const quota = (used: Record<string, string> | undefined): ResourceQuota => ({
  metadata: { name: 'q', namespace: 'n' },
  spec: { hard: { pods: '2' } },
  ...(used && { status: { hard: { pods: '2' }, used } }),
});

/** The quotas that are counted anew after an event of a pod that is there, or not any more. */
function countedAfter(stored: ResourceQuota, now: Pod | undefined, old?: Pod): string[] {
  const { discover } = resourceQuotaController(defaultControllersConfig);
  const verbs = ['create', 'list', 'watch', 'delete'];
  const watched = discover?.watch({ ...pods, kind: 'Pod', namespaced: true, preferred: true, verbs } as DiscoveredResource);
  const cache = {
    get: ({ resource }: GroupVersionResource) => (resource === 'pods' ? now : stored),
    list: () => [stored],
  } as unknown as Cache;
  return [...(watched?.keys?.(now ?? pod, old, cache) ?? [])];
}

it('what is new was added by admission: to count it again would take away what is on its way', () => {
  expect(countedAfter(quota({ pods: '2' }), pod)).toEqual([]);
});

it('what goes, changes, or is new where nobody has counted yet, is counted', () => {
  const ended = { ...pod, status: { phase: 'Succeeded' } } as Pod;
  expect(countedAfter(quota({ pods: '2' }), undefined)).toEqual(['n/q']);
  expect(countedAfter(quota({ pods: '2' }), ended, pod)).toEqual(['n/q']);
  expect(countedAfter(quota({ pods: '2' }), pod, pod)).toEqual([]);
  expect(countedAfter(quota(undefined), pod)).toEqual(['n/q']);
  expect(countedAfter(quota({ secrets: '1' }), pod)).toEqual(['n/q']);
});
