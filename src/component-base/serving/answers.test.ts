import { expect, it } from 'vitest';
import type { Clock } from '#utils';
import { Answers } from './answers.ts';
import { delegatedAnswersMax, delegatedKeyLengthMax, delegatedQuestionsMax, delegatedWaitingMax } from './limits.ts';

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer: () => ({ cancel() {} }),
  sleep: () => Promise.resolve(),
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Questions that stay open until they are let go on. */
function questions() {
  const open: (() => void)[] = [];
  const ask = (): Promise<string> => new Promise((resolve) => open.push(() => resolve('yes')));
  return { open, ask };
}

it('asks about a few at a time, in their order, and turns away who would wait behind too many', async () => {
  const answers = new Answers<string>(clock, () => 1000);
  const { open, ask } = questions();
  const all = Array.from({ length: delegatedQuestionsMax + delegatedWaitingMax }, (_, at) => answers.get(`token-${at}`, ask));
  await expect(answers.get('one more', ask)).rejects.toThrow('wait for their turn');
  expect(open).toHaveLength(delegatedQuestionsMax);
  while (open.length > 0) {
    expect(open.length).toBeLessThanOrEqual(delegatedQuestionsMax);
    for (const answer of open.splice(0)) answer();
    await turn();
  }
  expect(new Set(await Promise.all(all))).toEqual(new Set(['yes']));
  await expect(answers.get('one more', () => Promise.resolve('then'))).resolves.toBe('then');
});

it('a question that fails makes place for the next, and is asked again', async () => {
  const answers = new Answers<string>(clock, () => 1000);
  for (let at = 0; at < 2 * delegatedQuestionsMax; at++)
    await expect(answers.get('broken', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
});

it('keeps nothing of what is very long, and the newest of all else', async () => {
  const answers = new Answers<string>(clock, () => 1000);
  let asked = 0;
  const get = (key: string): Promise<string> => answers.get(key, () => Promise.resolve(String(asked++)));
  expect([await get('short'), await get('short')]).toEqual(['0', '0']);
  const long = 'x'.repeat(delegatedKeyLengthMax + 1);
  for (let at = 0; at < delegatedAnswersMax; at++) await get(long);
  expect([asked, await get('short')]).toEqual([delegatedAnswersMax + 1, '0']);
  for (let at = 0; at < delegatedAnswersMax; at++) await get(`other ${at}`);
  expect(await get('short')).not.toBe('0');
});
