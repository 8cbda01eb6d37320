// When a loop's decision can be read: before its effects, and with what became of them.
import { afterEach, expect, it } from 'vitest';
import { defineController } from '#controller-runtime';
import { pods } from '#controller-runtime/workload';
import { startWorld, type World } from '../controllers-world.ts';

let world: World | undefined;
afterEach(() => world?.close());

it('a decision is told while its effect is still under way, and the failure of the effect after it', async () => {
  let fail: (error: Error) => void = () => {};
  const asked = new Promise<void>((seen) => {
    const definition = defineController<string>({
      name: 'slow',
      for: pods,
      rights: [],
      watches: [{ resource: pods, keys: ({ metadata }) => [`${metadata.namespace}/${metadata.name}`] }],
      view: (key) => key,
      reconcile: () => ({ because: 'it is there', effects: [{ op: 'action', name: 'wait', input: undefined }] }),
      actions: () => [
        {
          name: 'wait',
          run: (_, signal) =>
            new Promise((_resolve, reject) => {
              fail = reject;
              signal.addEventListener('abort', () => reject(new Error('stopped')));
              seen();
            }),
        },
      ],
    });
    void startWorld([definition]).then(async (started) => {
      world = started;
      const spec = { containers: [{ name: 'main', image: 'a:1' }] };
      await started.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec } as never);
    });
  });
  await asked;
  const told = () => world?.decisions.about({ group: '', resource: 'pods', key: 'default/a' }) ?? [];
  expect(told()).toMatchObject([{ controller: 'slow', because: 'it is there' }]);
  expect(told()[0]).not.toHaveProperty('failure');
  fail(new Error('the cloud is away'));
  await expect.poll(() => told()[0]?.failure).toContain('the cloud is away');
});
