import { expect, it } from 'vitest';
import type { KubeObject } from '#apimachinery/meta';
import { deletionFinalizers } from './finalizers.ts';
import type { ServedResource } from './types.ts';

const resource = { definition: {} } as ServedResource;
const withFinalizers = (finalizers: string[]): KubeObject => ({ metadata: { finalizers } }) as KubeObject;

it.each([
  ['Foreground', ['a'], ['a', 'foregroundDeletion']],
  ['Orphan', ['foregroundDeletion', 'a'], ['a', 'orphan']],
  ['Background', ['a'], undefined],
  ['Foreground', ['a', 'foregroundDeletion'], undefined],
] as const)('a deletion %s of an object with %j', (propagationPolicy, before, after) =>
  expect(deletionFinalizers(resource, withFinalizers([...before]), { propagationPolicy })).toEqual(after),
);

it('looks at each of thousands of finalizers a few times', () => {
  const count = 2_000;
  let looks = 0;
  const counted = new Proxy(
    Array.from({ length: count }, (_, at) => `example.org/${at}`),
    {
      get(target, key, receiver): unknown {
        looks++;
        return Reflect.get(target, key, receiver);
      },
    },
  );
  deletionFinalizers(resource, withFinalizers(counted), { propagationPolicy: 'Background' });
  expect(looks).toBeLessThan(10 * count);
});
