// What fails is tried again, and at the moment that the failure names.
import { expect, it } from 'vitest';
import { hastyClock } from '../test-server/clock.ts';
import { instanceNotFound, retryAfter } from '../errors.ts';
import type { CloudProvider, Node } from '../types.ts';
import { persistent } from './persistent.ts';

const node: Node = { metadata: { name: 'a' } };
/** A provider whose machine exists after these failures. */
const failing = (...failures: Error[]): CloudProvider => ({
  hasClusterId: () => true,
  instancesV2: {
    instanceExists() {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : Promise.resolve(true);
    },
    instanceShutdown: () => Promise.resolve(false),
    instanceMetadata: () => Promise.resolve(undefined),
  },
});

it('waits for as long as a failure asks, and as the controllers do after others', async () => {
  const clock = hastyClock();
  const cloud = persistent(failing(retryAfter('not shown yet', 5_000), new Error('broken'), retryAfter('wait', 2_000)), {
    clock,
  });
  expect(await cloud.instancesV2?.instanceExists(node)).toBe(true);
  expect(clock.monotonic()).toBe(12_000);
});
it('hands on what has a meaning', async () => {
  const { instancesV2 } = persistent(failing(instanceNotFound()));
  await expect(instancesV2?.instanceExists(node)).rejects.toMatchObject({ code: 'InstanceNotFound' });
});
