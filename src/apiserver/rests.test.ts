import { expect, it } from 'vitest';
import { restsOf } from './rests.ts';

it('charges the work of an answer to whoever asked, who is not known yet when the answer is made', async () => {
  let nowMs = 0;
  const charged: [string, number][] = [];
  const clock = { monotonic: () => nowMs, now: () => nowMs, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
  const { restOf } = restsOf(clock, (flow, ms) => void charged.push([flow, ms]));
  const request = { via: 'wire' as const, user: { name: 'system:anonymous', groups: [] as string[] } };
  const rest = restOf(request);
  request.user = { name: 'system:serviceaccount:shop:one', groups: [] };
  await rest();
  nowMs += 5;
  await new Promise(process.nextTick);
  expect(charged).toEqual([['namespace shop', 5]]);
});
