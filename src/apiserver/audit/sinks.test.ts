import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#host';
import type { Clock } from '#utils';
import { bufferedSink } from './buffered.ts';
import { type AuditEvent, type RecordedEvent, recordedEvent } from './core/record.ts';
import { RotatingFile } from '../platform/rotating-file.ts';
import type { AuditSink } from './sink.ts';
import { truncatingSink } from './truncate.ts';

const event = (auditID: string, body?: string): RecordedEvent =>
  recordedEvent(
    { kind: 'Event', level: 'Request', auditID, user: {}, requestReceivedTimestamp: 'T' } as AuditEvent,
    body,
    undefined,
  );
const idsOf = (events: readonly RecordedEvent[]): string => events.map((one) => one.event.auditID).join('');

/** Remembers batches; `hold` keeps them on the way. */
function memorySink(hold?: Promise<boolean>): AuditSink & { batches: string[]; taken: RecordedEvent[] } {
  const batches: string[] = [];
  const taken: RecordedEvent[] = [];
  return {
    batches,
    taken,
    process(events) {
      batches.push(idsOf(events));
      taken.push(...events);
      return hold ?? true;
    },
    close: () => Promise.resolve(),
  };
}

/** Time that stands still until told. */
function handClock(): Clock & { pass(ms: number): Promise<void> } {
  let now = 0;
  let timers: { at: number; call(): void }[] = [];
  const setTimer = (delayMs: number, call: () => void) => {
    const timer = { at: now + delayMs, call };
    timers.push(timer);
    return { cancel: () => void (timers = timers.filter((one) => one !== timer)) };
  };
  return {
    now: () => now,
    monotonic: () => now,
    setTimer,
    sleep: (ms) => new Promise((resolve) => setTimer(ms, resolve)),
    async pass(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { call } of due) call();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

describe('batches', () => {
  const options = { bufferEventsMax: 5, batchEventsMax: 3, batchWaitMs: 1000, concurrent: true };
  const send = (sink: AuditSink, ids: string) => [...ids].map((id) => sink.process([event(id)]));

  it('leave when they are full, and when they are old enough', async () => {
    const inner = memorySink();
    const clock = handClock();
    const sink = bufferedSink(inner, options, clock, () => undefined);
    expect(send(sink, 'abcd')).toEqual([true, true, true, true]);
    expect(inner.batches).toEqual([]);
    await clock.pass(0);
    expect(inner.batches).toEqual(['abc']);
    await clock.pass(999);
    expect(inner.batches).toEqual(['abc']);
    await clock.pass(1);
    expect(inner.batches).toEqual(['abc', 'd']);
  });

  it('drop what the buffer does not hold, and say so; the request goes on', () => {
    const lost: string[] = [];
    const sink = bufferedSink(memorySink(), options, handClock(), (plugin, why, events) =>
      lost.push(`${plugin} ${why} ${idsOf(events)}`),
    );
    expect(sink.process([...'abcdefg'].map((id) => event(id)))).toBe(true);
    expect(lost).toEqual(['buffered audit buffer queue blocked fg']);
  });

  it('are throttled', async () => {
    const inner = memorySink();
    const clock = handClock();
    const throttle = { perSecond: 1, burst: 1 };
    const sink = bufferedSink(inner, { ...options, bufferEventsMax: 10, throttle }, clock, () => undefined);
    void send(sink, 'abcdef');
    await clock.pass(0);
    expect(inner.batches).toEqual(['abc']);
    await clock.pass(1000);
    expect(inner.batches).toEqual(['abc', 'def']);
  });

  it('all leave at the end, which waits for those on their way', async () => {
    let arrive = (_: boolean): void => undefined;
    const inner = memorySink(new Promise((resolve) => (arrive = resolve)));
    const sink = bufferedSink(inner, options, handClock(), () => undefined);
    void send(sink, 'abcd');
    let closed = false;
    const closing = sink.close().then(() => (closed = true));
    for (let i = 0; i < 50; i++) await Promise.resolve();
    expect([inner.batches, closed]).toEqual([['abc', 'd'], false]);
    arrive(true);
    await closing;
    expect(closed).toBe(true);
  });
});

it('truncating drops objects, then events, and splits batches', () => {
  const inner = memorySink();
  const lost: string[] = [];
  const sink = truncatingSink(inner, { eventBytesMax: 220, batchBytesMax: 300 }, (_, why, events) =>
    lost.push(`${why}: ${idsOf(events)}`),
  );
  const large = `"${'x'.repeat(300)}"`;
  expect(sink.process([event('a'), event('b', large), event('c'.repeat(300)), event('d')])).toBe(true);
  expect(inner.batches).toEqual(['ab', 'd']);
  expect(inner.taken[1]).toMatchObject({
    requestObject: undefined,
    event: { annotations: { 'audit.k8s.io/truncated': 'true' } },
  });
  expect(lost).toEqual([`event is too large even after truncating: ${'c'.repeat(300)}`]);
});

describe('a file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'audit-'));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const base = { megabytesMax: 1, daysMax: 0, backupsMax: 0, compress: false };

  it('gets lines in order, behind those it has', async () => {
    const path = join(folder, 'new', 'audit.log');
    for (const round of ['a', 'b']) {
      const file = await RotatingFile.open(path, base, systemClock());
      await Promise.all(Array.from({ length: 50 }, (_, i) => file.write(`${round}${i}\n`)));
      await file.close();
    }
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    expect(lines).toEqual(['a', 'b'].flatMap((round) => Array.from({ length: 50 }, (_, i) => `${round}${i}`)));
  });

  it('is put aside when it is full; old parts are packed, and removed when there are too many', async () => {
    const path = join(folder, 'audit.log');
    await writeFile(join(folder, 'audit-2020-01-01T00-00-00.000.log'), 'old');
    await writeFile(join(folder, 'audit-other.log'), 'not ours');
    const file = await RotatingFile.open(path, { ...base, backupsMax: 1, compress: true }, systemClock());
    const line = `${'x'.repeat(600_000)}\n`;
    await file.write(line);
    await file.write(line);
    await file.close();
    const names = (await readdir(folder)).sort();
    const [packed = '', ...rest] = names.filter((name) => name.endsWith('.gz'));
    expect([rest, names.length, names.includes('audit-other.log')]).toEqual([[], 3, true]);
    expect(gunzipSync(await readFile(join(folder, packed))).toString()).toBe(line);
    expect(await readFile(path, 'utf8')).toBe(line);
  });

  it('refuses what can never fit', async () => {
    const file = await RotatingFile.open(join(folder, 'audit.log'), base, systemClock());
    await expect(file.write('x'.repeat(1_048_577))).rejects.toThrow('write length 1048577 exceeds maximum file size 1048576');
    await file.close();
  });
});
