import { expect, test } from 'vitest';
import type { Pod } from '#api/core/v1';
import { affinityTermsMax } from './limits.ts';
import { podInfoOf } from './pod-info.ts';

const term = (app: string) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } });
const terms = (count: number) => Array.from({ length: count }, (_, at) => term(`a${at}`));
const weighted = (count: number) => terms(count).map((podAffinityTerm) => ({ weight: 1, podAffinityTerm }));

function podWith(required: number, requiredAnti: number, preferred: number, preferredAnti: number): Pod {
  const affinity = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: terms(required),
      preferredDuringSchedulingIgnoredDuringExecution: weighted(preferred),
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: terms(requiredAnti),
      preferredDuringSchedulingIgnoredDuringExecution: weighted(preferredAnti),
    },
  };
  return { metadata: { name: 'p', namespace: 'ns' }, spec: { containers: [], affinity } };
}

test.each([
  [[1, 2, 3, 4]],
  [[affinityTermsMax, 0, 0, 0]],
  [[4_000, 4_000, 4_000, 4_000]],
  [[60, 60, 60, 60]],
  [[0, 0, 4_000, 0]],
])('of %j terms so many are looked at as there is room for, required ones first', (counts) => {
  const info = podInfoOf(podWith(...(counts as [number, number, number, number])));
  const kept = [info.requiredAffinity, info.requiredAntiAffinity, info.preferredAffinity, info.preferredAntiAffinity];
  let left = affinityTermsMax;
  const wanted = counts.map((count) => {
    const taken = Math.min(count, left);
    left -= taken;
    return taken;
  });
  expect(kept.map(({ length }) => length)).toEqual(wanted);
  expect(info.requiredTerms).toBe((counts[0] ?? 0) + (counts[1] ?? 0));
  expect(info.affinityKey.length).toBeLessThan(20_000);
});

test('terms of one pod share the namespace that they do not name', () => {
  const { requiredAffinity } = podInfoOf(podWith(2, 0, 0, 0));
  expect(requiredAffinity[0]?.namespaces).toBe(requiredAffinity[1]?.namespaces);
  expect([...(requiredAffinity[0]?.namespaces ?? [])]).toEqual(['ns']);
});
