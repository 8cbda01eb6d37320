// Which sessions end for what they take back in one turn of the event loop.
import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { silentLogger } from '#utils';
import { limits } from '../limits.ts';
import { RapidResets } from './rapid-resets.ts';

/** A session whose streams were taken back, or not, by the time the next one comes. */
class FakeSession extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
  }
  open(count: number, aborted: boolean): void {
    for (let at = 0; at < count && !this.destroyed; at++) this.emit('stream', { aborted });
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function sessions(count: number): FakeSession[] {
  const resets = new RapidResets(silentLogger);
  return Array.from({ length: count }, () => {
    const session = new FakeSession();
    resets.watch(session);
    return session;
  });
}

test('one session may take back as many as the limit says, turn after turn', async () => {
  const [session] = sessions(1);
  for (let turn = 0; turn < 3; turn++) {
    session?.open(limits.resetsInTurnMax - 1, true);
    await nextTurn();
  }
  expect(session?.destroyed).toBe(false);
  session?.open(limits.resetsInTurnMax, true);
  expect(session?.destroyed).toBe(true);
});

test('sessions that reset in the same turn end after a few; those that do not, and those of the next turn, go on', async () => {
  const [first, innocent, ...others] = sessions(40);
  first?.open(limits.resetsInTurnMax, true);
  innocent?.open(limits.resetsInTurnMax * 2, false);
  for (const session of others) session.open(limits.resetsInCrowdedTurnMax, true);
  expect(others.every(({ destroyed }) => destroyed)).toBe(true);
  expect(innocent?.destroyed).toBe(false);
  await nextTurn();
  const [later] = sessions(1);
  later?.open(limits.resetsInCrowdedTurnMax, true);
  innocent?.open(limits.resetsInCrowdedTurnMax, true);
  expect([later?.destroyed, innocent?.destroyed]).toEqual([false, false]);
});
