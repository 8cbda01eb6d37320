import { describe, expect, it } from 'vitest';
import { createTurns, createTurnstile, nextTurn } from './turns.ts';

function manual() {
  let nowMs = 0;
  return { monotonic: () => nowMs, pass: (ms: number) => void (nowMs += ms) };
}

describe('turns', () => {
  it('is spent once the share has passed, and anew after the turn', async () => {
    const clock = manual();
    const turns = createTurns(clock, 10);
    expect(turns.spent()).toBe(false);
    clock.pass(10);
    expect(turns.spent()).toBe(false);
    clock.pass(1);
    expect(turns.spent()).toBe(true);
    await nextTurn();
    expect(turns.spent()).toBe(false);
  });

  it('lets promises settle first, and others only when the share has passed', async () => {
    const clock = manual();
    const turns = createTurns(clock, 10);
    const order: string[] = [];
    const others = new Promise<void>((resolve) =>
      setImmediate(() => {
        order.push('others');
        resolve();
      }),
    );
    turns.spent();
    void (async () => {
      for (let i = 0; i < 5; i++) await null;
      order.push('promises');
    })();
    await turns.rest();
    order.push('rested');
    clock.pass(11);
    await turns.rest();
    order.push('rested again');
    await others;
    expect(order).toEqual(['promises', 'rested', 'others', 'rested again']);
  });

  it('lets callers in at once while the turn is young, then a few per turn, in order', async () => {
    const clock = manual();
    const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10) });
    const entered: number[] = [];
    const caller = async (n: number): Promise<void> => {
      const wait = enter();
      if (wait) await wait;
      entered.push(n);
      clock.pass(11);
    };
    await caller(0);
    const rest = Promise.all([caller(1), caller(2), caller(3)]);
    await Promise.resolve();
    expect(entered).toEqual([0]);
    await rest;
    expect(entered).toEqual([0, 1, 2, 3]);
  });

  it('lets in who comes while others are let in, and who comes when nobody waits any more', async () => {
    const clock = manual();
    const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10) });
    const entered: string[] = [];
    const caller = async (name: string, more: readonly string[] = []): Promise<void> => {
      await enter();
      entered.push(name);
      clock.pass(11);
      await Promise.all(more.map((one) => caller(one)));
    };
    await caller('first');
    await Promise.all([caller('a', ['a1', 'a2']), caller('b', ['b1'])]);
    expect(entered).toEqual(['first', 'a', 'b', 'a1', 'a2', 'b1']);
    clock.pass(11);
    await Promise.all([caller('c'), caller('d', ['d1'])]);
    expect(entered.slice(6)).toEqual(['c', 'd', 'd1']);
  });

  it('lets one long caller in per turn, and short ones past those who wait', async () => {
    const clock = manual();
    const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10), overtaking: true });
    const order: string[] = [];
    let turn = 0;
    const long = async (name: string): Promise<void> => {
      await enter();
      order.push(`${name} in turn ${turn}`);
      clock.pass(40);
    };
    const count = (): void => {
      turn++;
      if (turn < 5) setImmediate(count);
    };
    setImmediate(count);
    await long('first');
    const second = async (): Promise<void> => {
      await long('second');
      // Ends the turn that was used up, before the next one lets the third caller in.
      await nextTurn();
      expect(enter()).toBeUndefined();
      order.push('short');
    };
    await Promise.all([second(), long('third')]);
    expect(order.map((text) => text.split(' ')[0])).toEqual(['first', 'second', 'short', 'third']);
    expect(new Set(order.map((text) => text.slice(-1))).size).toBe(4);
  });

  it('lets flows in by turns, the callers of each in order', async () => {
    const clock = manual();
    const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10), overtaking: true });
    const entered: string[] = [];
    const caller = async (flow: string, name: string): Promise<void> => {
      await enter(flow);
      entered.push(name);
      clock.pass(11);
    };
    for (const flow of ['much', 'little', 'other']) await caller(flow, 'first');
    const much = ['m1', 'm2', 'm3', 'm4'].map((name) => caller('much', name));
    await Promise.all([...much, caller('little', 'l1'), caller('other', 'o1'), caller('little', 'l2')]);
    expect(entered.slice(3)).toEqual(['m1', 'l1', 'o1', 'm2', 'l2', 'm3', 'm4']);
  });

  describe('with flows of which one uses much', () => {
    function flows() {
      const clock = manual();
      const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10), overtaking: true });
      const use = async (flow: string, ms: number): Promise<void> => {
        await enter(flow);
        clock.pass(ms);
        await nextTurn();
      };
      return { clock, enter, use };
    }

    it('lets who uses little go on in an old turn, until all of them have used a share', async () => {
      const { clock, enter, use } = flows();
      await use('much', 40);
      await enter('much');
      clock.pass(40);
      expect(enter('little')).toBeUndefined();
      clock.pass(4);
      expect(enter('other')).toBeUndefined();
      clock.pass(7);
      expect(enter('little')).toBeInstanceOf(Promise);
      await nextTurn();
      await use('much', 40);
      expect(enter('little')).toBeUndefined();
    });

    it('holds who uses much to its turns, and in the order of its callers', async () => {
      const { clock, enter, use } = flows();
      await use('much', 40);
      const order: string[] = [];
      await enter('much');
      clock.pass(40);
      const waiting = ['second', 'third'].map(async (name) => {
        await enter('much');
        order.push(name);
        clock.pass(40);
      });
      await nextTurn();
      // The turn is young, but callers of its own flow wait.
      const last = enter('much');
      expect(last).toBeInstanceOf(Promise);
      await Promise.all([...waiting, last?.then(() => order.push('last'))]);
      expect(order).toEqual(['second', 'third', 'last']);
    });

    it('forgets with time what was used', async () => {
      const { clock, enter, use } = flows();
      await use('once', 1_000);
      clock.pass(15_000);
      await use('now', 10);
      await enter('now');
      clock.pass(11);
      expect(enter('once')).toBeUndefined();
      await nextTurn();
      clock.pass(3_600_000);
      await use('now', 10);
      await enter('once');
      clock.pass(11);
      expect(enter('once')).toBeInstanceOf(Promise);
    });
  });

  it('charges whose work it is, what is sent for it at the end of the tick included', async () => {
    const clock = manual();
    const used: [string, number][] = [];
    const onUsed = (flow: string, ms: number): void => void used.push([flow, ms]);
    const enter = createTurnstile({ clock, shareMs: 10, turns: createTurns(clock, 10), overtaking: true, onUsed });
    await enter('watcher');
    clock.pass(1);
    process.nextTick(() => clock.pass(5));
    await nextTurn();
    clock.pass(100);
    await nextTurn();
    expect(used).toEqual([['watcher', 6]]);
  });

  it('are slow while one is spent, and in the next one', async () => {
    const clock = manual();
    const turns = createTurns(clock, 10);
    expect(turns.slow()).toBe(false);
    clock.pass(11);
    expect(turns.slow()).toBe(true);
    await nextTurn();
    expect(turns.slow()).toBe(true);
    await nextTurn();
    expect(turns.slow()).toBe(false);
  });
});
