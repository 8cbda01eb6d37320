import { describe, expect, it } from 'vitest';
import type { Clock, Logger } from '#utils';
import { emptyWorld, NotYetError } from '../model/index.ts';
import { driverLoop } from './driver-loop.ts';

/** Levels of what is logged while a driver fails so often. */
async function logged(failure: Error, times: number): Promise<string[]> {
  const levels: string[] = [];
  const note =
    (level: string) =>
    (message: string): void =>
      void levels.push(`${level} ${message}`);
  const logger: Logger = {
    error: note('error'),
    warn: note('warn'),
    info: note('info'),
    debug: note('debug'),
    with: () => logger,
  };
  let turn: (() => void) | undefined;
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    setTimer(_, run) {
      turn = run;
      return { cancel() {} };
    },
    sleep: () => Promise.resolve(),
  };
  let left = times;
  const driver = {
    name: 'test',
    realise: () => (left-- > 0 ? Promise.reject(failure) : Promise.resolve()),
    close: () => Promise.resolve(),
  };
  const loop = driverLoop(driver, { clock, logger, world: () => emptyWorld });
  loop.changed();
  for (let round = 0; round <= times; round++) {
    for (let step = 0; step < 10; step++) await Promise.resolve();
    turn?.();
  }
  await loop.close();
  return levels;
}

describe('a driver that waits for another one', () => {
  it('fails without a word at first, and loudly when it goes on', async () => {
    const notYet = new NotYetError('the router is not there yet');
    expect(await logged(notYet, 1)).toEqual(['debug driver failed', 'info driver works again']);
    expect(await logged(new AggregateError([notYet, notYet]), 1)).toEqual(['debug driver failed', 'info driver works again']);
    expect((await logged(notYet, 5)).at(4)).toBe('error driver failed');
  });
  it('is not taken for one that fails', async () => {
    expect(await logged(new Error('broken'), 1)).toEqual(['error driver failed', 'info driver works again']);
    expect((await logged(new AggregateError([new NotYetError('a'), new Error('b')]), 1))[0]).toBe('error driver failed');
  });
});
