import { expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { stopsAfter } from './termination-order.ts';

const pod = {
  metadata: {},
  spec: {
    initContainers: [{ name: 'init' }, { name: 's1', restartPolicy: 'Always' }, { name: 's2', restartPolicy: 'Always' }],
    containers: [{ name: 'a' }, { name: 'b' }],
  },
} as Pod;

it('lets sidecars outlive what runs beside them', () => {
  expect(Object.fromEntries(stopsAfter(pod, ['a', 'b', 's1', 's2']))).toEqual({ s1: ['a', 'b', 's2'], s2: ['a', 'b'] });
  expect(Object.fromEntries(stopsAfter(pod, ['s1', 'b']))).toEqual({ s1: ['b'], s2: ['b'] });
  expect(stopsAfter({ metadata: {} } as Pod, ['a']).size).toBe(0);
});
