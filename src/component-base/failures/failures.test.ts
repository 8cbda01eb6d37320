import { expect, test } from 'vitest';
import { type Clock, silentLogger } from '#utils';
import { createMetrics } from '../metrics/index.ts';
import { answerHealth } from '../health/index.ts';
import { bound, domainName, handStray, inDomain, noteCaught, ownProcess, Supervisor } from './index.ts';

/** Time passes when the test says so. */
function heldClock(): Clock & { pass(ms: number): Promise<void> } {
  let nowMs = 0;
  let sleepers: { atMs: number; wake: () => void }[] = [];
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    setTimer: () => ({ cancel() {} }),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => reject(new Error('aborted'));
        signal?.addEventListener('abort', onAbort, { once: true });
        sleepers.push({
          atMs: nowMs + ms,
          wake() {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        });
      }),
    async pass(ms) {
      await turns();
      nowMs += ms;
      const due = sleepers.filter(({ atMs }) => atMs <= nowMs);
      sleepers = sleepers.filter(({ atMs }) => atMs > nowMs);
      for (const { wake } of due) wake();
      await turns();
    },
  };
}

function fixture() {
  const clock = heldClock();
  const metrics = createMetrics();
  const supervisor = new Supervisor({ clock, logger: silentLogger });
  supervisor.countIn(metrics);
  const log: string[] = [];
  /** A component that tells of its lives; `throws`: an error of the life of now that nobody catches. */
  const component = (name: string) => {
    const one = {
      throws: (_error: unknown): boolean => false,
      start: () => {
        log.push(`${name} starts`);
        one.throws = bound((error: unknown) => handStray(error));
        return { stop: () => void log.push(`${name} stops`) };
      },
    };
    return one;
  };
  return { clock, metrics, supervisor, log, component };
}

test('an error that nobody caught restarts its component, later each time, and nobody else', async () => {
  const { clock, metrics, supervisor, log, component } = fixture();
  const [a, b] = [component('a'), component('b')];
  const handle = await supervisor.run('a', a.start);
  await supervisor.run('b', b.start);
  expect(log.splice(0)).toEqual(['a starts', 'b starts']);
  for (const pauseMs of [250, 500, 1000]) {
    expect(a.throws(new TypeError('names is not iterable'))).toBe(true);
    await clock.pass(0);
    expect(log.splice(0)).toEqual(['a stops']);
    expect(handle.current).toBeUndefined();
    const [status] = supervisor.status();
    expect(status).toMatchObject({ component: 'a', state: 'waiting', last: { message: 'names is not iterable', kind: 'stray' } });
    await clock.pass(pauseMs - 1);
    expect(log).toEqual([]);
    await clock.pass(1);
    expect(log.splice(0)).toEqual(['a starts']);
  }
  expect(handle.current).toBeDefined();
  expect(supervisor.status().map(({ restarts, failures, state }) => [restarts, failures, state])).toEqual([
    [3, 3, 'running'],
    [0, 0, 'running'],
  ]);
  const text = await metrics.expose();
  expect(text).toContain('sagong_component_failures_total{component="a",kind="stray"} 3');
  expect(text).toContain('sagong_component_restarts_total{component="a"} 3');
  await supervisor.stop();
  expect(log).toEqual(['b stops', 'a stops']);
});

test('the pause has a bound, and is short again after a while without failures', async () => {
  const { clock, supervisor, log, component } = fixture();
  const a = component('a');
  await supervisor.run('a', a.start);
  for (let round = 0; round < 10; round++) {
    a.throws('thrown as it is');
    await clock.pass(0);
    await clock.pass(30_000);
  }
  expect(log.filter((line) => line === 'a starts')).toHaveLength(11);
  await clock.pass(60_001);
  a.throws(new Error('once more'));
  await clock.pass(0);
  expect(supervisor.status()[0]?.nextStartMs).toBe(clock.now() + 250);
  await supervisor.stop();
});

test('an error of a life that is over is noted, and ends nothing', async () => {
  const { clock, supervisor, log, component } = fixture();
  const a = component('a');
  await supervisor.run('a', a.start);
  const { throws } = a;
  throws(new Error('first'));
  await clock.pass(0);
  await clock.pass(1000);
  throws(new Error('late'));
  await clock.pass(60_000);
  expect(log).toEqual(['a starts', 'a stops', 'a starts']);
  expect(supervisor.failures.map(({ message }) => message)).toEqual(['first', 'late']);
  await supervisor.stop();
});

test('an error that was caught is noted', async () => {
  const { clock, metrics, supervisor, log } = fixture();
  let note = (): void => {};
  await supervisor.run('a', () => {
    note = bound(() => noteCaught('event of nodes', new Error('odd')));
    return { stop() {} };
  });
  note();
  await clock.pass(60_000);
  expect(supervisor.status()[0]).toMatchObject({
    state: 'running',
    failures: 1,
    last: { kind: 'caught', where: 'event of nodes' },
  });
  expect(await metrics.expose()).toContain('sagong_component_failures_total{component="a",kind="caught"} 1');
  expect(log).toEqual([]);
  await supervisor.stop();
});

test('a first start that fails is the caller’s, unless it is to be tried again; later starts are', async () => {
  const { clock, supervisor } = fixture();
  const bad = (): never => {
    throw new Error('no such profile');
  };
  await expect(supervisor.run('a', bad)).rejects.toThrow('no such profile');
  expect(supervisor.status()).toEqual([]);
  let starts = 0;
  const atLast = (): { stop(): void } => {
    if (++starts < 3) throw new Error('not yet');
    return { stop() {} };
  };
  const handle = await supervisor.run('b', atLast, { retryFirst: true });
  expect(handle.current).toBeUndefined();
  await clock.pass(1000);
  await clock.pass(2000);
  expect(handle.current).toBeDefined();
  await supervisor.stop();
});

test('a component that fails while it starts, and never would have started, is started again', async () => {
  const { clock, supervisor } = fixture();
  let starts = 0;
  const handle = await supervisor.run('a', () => {
    if (++starts > 1) return { stop() {} };
    setImmediate(bound(() => handStray(new Error('odd'))));
    return new Promise<{ stop(): void }>(() => {});
  });
  expect(handle.current).toBeUndefined();
  await clock.pass(0);
  await clock.pass(1000);
  expect(handle.current).toBeDefined();
  await supervisor.stop();
});

test('what does not stop holds up nobody for long', async () => {
  const { clock, supervisor } = fixture();
  let throws = (): void => {};
  let starts = 0;
  const handle = await supervisor.run('a', () => {
    starts++;
    throws = bound(() => void handStray(new Error('odd')));
    return { stop: () => (starts === 1 ? new Promise<void>(() => {}) : undefined) };
  });
  throws();
  await clock.pass(10_000);
  await clock.pass(1000);
  expect([starts, handle.current !== undefined]).toEqual([2, true]);
  await supervisor.stop();
});

test('an error is of the innermost domain that it left', () => {
  const told: string[] = [];
  const domain = (name: string) => ({ name, stray: () => void told.push(name), caught() {} });
  const error = new Error('odd');
  const work = (): void =>
    inDomain(domain('outer'), () =>
      inDomain(domain('inner'), () => {
        throw error;
      }),
    );
  expect(work).toThrow(error);
  expect(handStray(error)).toBe(true);
  expect(handStray(new Error('nobody’s'))).toBe(false);
  inDomain(domain('a component'), () => expect(inDomain(undefined, () => handStray(new Error('the server’s')))).toBe(false));
  expect(told).toEqual(['inner']);
});

test('what runs in no other domain is in that of the process, where there is one', () => {
  const told: string[] = [];
  const domain = (name: string) => ({ name, stray: () => void told.push(name), caught: () => void told.push(`${name} caught`) });
  const before = bound(() => domainName());
  ownProcess(domain('alone'));
  try {
    expect([domainName(), before()]).toEqual(['alone', 'alone']);
    expect(handStray(new Error('odd'))).toBe(true);
    noteCaught('here', new Error('odd'));
    inDomain(domain('inner'), () => handStray(new Error('odd')));
    expect(told).toEqual(['alone', 'alone caught', 'inner']);
    // What is put into none is in none, and stays there when another domain calls it.
    const outside = inDomain(undefined, () => bound(() => [domainName(), handStray(new Error('odd'))]));
    expect([outside(), inDomain(domain('inner'), outside)]).toEqual([
      [undefined, false],
      [undefined, false],
    ]);
    const inAlone = bound(() => domainName());
    expect([inDomain(domain('inner'), inAlone), inDomain(undefined, inAlone)]).toEqual(['alone', 'alone']);
  } finally {
    ownProcess(undefined);
  }
  expect(handStray(new Error('odd'))).toBe(false);
});

test('health tells of it, and stays healthy', async () => {
  const { clock, supervisor, component } = fixture();
  const [a, b] = [component('a'), component('b')];
  await supervisor.run('a', a.start);
  await supervisor.run('b', b.start, { quiet: true });
  const ask = async (): Promise<[number, string]> => {
    const { status, body } = await answerHealth('readyz', supervisor.healthChecks(), new URLSearchParams('verbose'));
    return [status, body];
  };
  expect(await ask()).toEqual([200, '[+]component/a ok\nreadyz check passed\n']);
  a.throws(new Error('odd'));
  b.throws(new Error('odd'));
  await clock.pass(0);
  const lines = '[-]component/a failed: reason withheld\n[-]component/b failed: reason withheld\n';
  expect(await ask()).toEqual([200, `${lines}readyz check passed\n`]);
  await supervisor.stop();
});
