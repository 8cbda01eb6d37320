import { expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import { annotationPrefix, loadOf } from './behaviour.ts';

const container = { name: 'app', image: 'a' };
const load = (cpu: string, memory: string) => {
  const annotations = { [`${annotationPrefix}cpu`]: cpu, [`${annotationPrefix}memory`]: memory };
  return loadOf({ metadata: { name: 'a', annotations }, spec: { containers: [container] } } as Pod, container);
};

it('is what the annotations say', () => {
  expect(load('250m', '64Mi')).toEqual({ cpuNanoCores: 250_000_000, memoryBytes: 64 * 2 ** 20 });
});
it.each([
  ['-5', '-1'],
  ['NaN', ''],
  ['1e300', '99999999999999999999Ei'],
  ['1000001', '2Pi'],
])('is idle where they say what no machine has: %s, %s', (cpu, memory) => {
  expect(load(cpu, memory)).toEqual(load('1m', '16Mi'));
});
