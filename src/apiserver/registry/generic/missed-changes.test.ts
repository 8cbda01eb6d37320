import { expect, it } from 'vitest';
import { CacheEvent } from '../../storage/event.ts';
import { EventRing } from '../../storage/event-ring.ts';
import { StoredObject } from '../../storage/stored-object.ts';
import { missedSince } from './missed-changes.ts';

const place = { key: '/a', namespace: '', name: 'a', revision: 1 };
const stored = new StoredObject(place, { metadata: { name: 'a' } }, undefined);

function cacheOf(count: number): {
  push(revision: number): void;
  eventsAfter(revision: number): CacheEvent[];
  oldestRevision: number;
} {
  const ring = new EventRing(0);
  const push = (revision: number): void => ring.push(new CacheEvent(revision, stored, undefined, 0));
  for (let revision = 1; revision <= count; revision++) push(revision);
  return {
    push,
    eventsAfter: (revision) => ring.after(revision),
    get oldestRevision() {
      return ring.oldest;
    },
  };
}

const hear = (event: CacheEvent) => (event.revision % 2 === 0 ? ({ event, type: 'ADDED' } as const) : undefined);

it('rests on the way, and hears of what changes meanwhile', async () => {
  const cache = cacheOf(100);
  let rests = 0;
  const rest = async (): Promise<void> => {
    if (++rests === 2) cache.push(102);
  };
  const { missed, upTo } = await missedSince(cache, 10, rest, hear);
  expect(missed.map(({ event }) => event.revision)).toEqual([...Array.from({ length: 45 }, (_, at) => 12 + at * 2), 102]);
  expect(upTo).toBe(102);
  expect(rests).toBe(5);
});

it('waits for what has to be converted', async () => {
  const { missed } = await missedSince(
    cacheOf(40),
    0,
    () => undefined,
    async (event) => hear(event),
  );
  expect(missed).toHaveLength(20);
});

it('says so where not all is remembered any more', async () => {
  const cache = cacheOf(25_000);
  await expect(missedSince(cache, 10, () => undefined, hear)).rejects.toMatchObject({ status: { code: 410 } });
});
