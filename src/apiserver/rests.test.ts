import { expect, it } from 'vitest';
import { restsOf } from './rests.ts';

it('charges the work of an answer to whoever asked, who is not known yet when the answer is made', async () => {
  let nowMs = 0;
  const charged: [string, number][] = [];
  const clock = { monotonic: () => nowMs, now: () => nowMs, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
  const { restOf } = restsOf(clock, (flow, ms) => void charged.push([flow, ms]));
  const request = { via: 'wire' as const, target: undefined, user: { name: 'system:anonymous', groups: [] as string[] } };
  const rest = restOf(request);
  request.user = { name: 'system:serviceaccount:shop:one', groups: [] };
  await rest();
  nowMs += 5;
  await new Promise(process.nextTick);
  expect(charged).toEqual([['namespace shop', 5]]);
});

it('lets the writes of components go on namespace by namespace', async () => {
  let nowMs = 0;
  const clock = { monotonic: () => nowMs, now: () => nowMs, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
  const { restOf } = restsOf(clock);
  const done: string[] = [];
  const write = async (namespace: string): Promise<void> => {
    const target = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace, name: 'p' };
    await restOf({ via: 'memory', user: { name: 'system:kube-controller-manager', groups: [] }, target } as never)();
    done.push(namespace);
    nowMs += 20;
  };
  await write('large');
  await Promise.all([...Array.from({ length: 10 }, () => write('large')), write('small')]);
  expect(done.indexOf('small')).toBeLessThan(4);
});
