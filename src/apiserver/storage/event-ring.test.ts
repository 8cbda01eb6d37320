import { expect, it } from 'vitest';
import type { UnknownObject } from '#apimachinery/meta';
import { remadeBytesMax, ringBytesMax } from '../limits.ts';
import { canonical, encodeStored } from './encoding.ts';
import { CacheEvent } from './event.ts';
import { EventRing, shed } from './event-ring.ts';
import { storedBytes, StoredObject } from './stored-object.ts';

const event = (revision: number, bytes: number): CacheEvent => new CacheEvent(revision, undefined, undefined, 0, bytes);

it('forgets the oldest changes when all together weigh too much, and says from where on it knows all', () => {
  const ring = new EventRing(0);
  const bytes = ringBytesMax / 8;
  for (let revision = 1; revision <= 20; revision++) ring.push(event(revision, bytes));
  expect(ring.after(0).map(({ revision }) => revision)).toEqual([13, 14, 15, 16, 17, 18, 19, 20]);
  expect(ring.oldest).toBe(12);
});

it('keeps the newest change, whatever it weighs', () => {
  const ring = new EventRing(0);
  ring.push(event(1, 10));
  ring.push(event(2, ringBytesMax * 2));
  expect(ring.after(0).map(({ revision }) => revision)).toEqual([2]);
  ring.push(event(3, 10));
  expect(ring.after(0).map(({ revision }) => revision)).toEqual([3]);
});

it('keeps thousands of small changes', () => {
  const ring = new EventRing(0);
  for (let revision = 1; revision <= 5_000; revision++) ring.push(event(revision, 1_000));
  expect(ring.after(0)).toHaveLength(5_000);
  expect(ring.oldest).toBe(0);
});

it('keeps of objects that are no longer there only their bytes, and shows them as they were', () => {
  const ring = new EventRing(0);
  const made = (revision: number): StoredObject => {
    const at = { key: '/a/b', namespace: 'a', name: 'b', revision };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', uid: 'u', resourceVersion: String(revision) } };
    const stored = new StoredObject(at, object);
    expect(stored.bytes.toString()).toContain(`"resourceVersion":"${revision}"`);
    return stored;
  };
  const states = Array.from({ length: 200 }, (_, at) => made(at + 1));
  const before = states.map(({ object }) => object);
  states.forEach((state, at) => ring.push(new CacheEvent(at + 1, state, states[at - 1], 0)));
  // Whoever holds an object keeps it; it is the memory of it here that goes.
  const kept = states.map(({ object }, at) => object === before[at]);
  expect([kept.indexOf(true), kept[199]]).toEqual([135, true]);
  expect(states.map(({ object }) => object)).toEqual(before);
});

it('cools heavy changes down sooner, and none that was just heard', () => {
  const ring = new EventRing(0);
  const cold: number[] = [];
  const heard = (revision: number, bytes: number): void => {
    const heavy = event(revision, bytes);
    heavy.coolDown = () => void cold.push(revision);
    ring.push(heavy);
  };
  for (let revision = 1; revision <= 10; revision++) heard(revision, 4 * 1024 * 1024);
  expect(cold).toEqual([1, 2, 3, 4, 5, 6]);
  heard(11, ringBytesMax);
  expect(cold).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (let revision = 12; revision <= 400; revision++) heard(revision, 1);
  expect(cold).toEqual(Array.from({ length: 336 }, (_, at) => at + 1));
});

const stateAt = (revision: number, name = 'b'): StoredObject => {
  const at = { key: `/a/${name}`, namespace: 'a', name, revision };
  const metadata = { name, namespace: 'a', uid: '01234567-89ab-cdef-0123-456789abcdef' };
  const object: UnknownObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(100_000) } };
  const value = encodeStored(canonical(object));
  return new StoredObject(at, undefined, storedBytes(value));
};

it('keeps nothing of a deletion but the bytes of before, also when somebody hears of it later', () => {
  const ring = new EventRing(0);
  const change = new CacheEvent(2, undefined, stateAt(1), 0, 100);
  ring.push(change);
  const heard = change.objectFor('DELETED');
  expect(change.objectFor('DELETED')).toBe(heard);
  for (let revision = 3; revision <= 100; revision++) ring.push(event(revision, 1));
  const later = change.objectFor('DELETED');
  expect(later).not.toBe(heard);
  expect(change.objectFor('DELETED')).not.toBe(later);
  expect(later.object).toEqual(heard.object);
});

it('lets go at once of what it forgets', () => {
  const ring = new EventRing(0);
  const cold: number[] = [];
  const heard = (revision: number, bytes: number): CacheEvent =>
    Object.assign(event(revision, bytes), { coolDown: () => void cold.push(revision) });
  ring.push(heard(1, 10));
  ring.push(heard(2, 10));
  ring.push(heard(3, 10));
  ring.shrinkTo(10);
  expect([cold, ring.bytes, ring.oldest]).toEqual([[1, 2], 10, 2]);
  ring.shrinkTo(0);
  expect([cold, ring.bytes, ring.oldest, ring.after(0)]).toEqual([[1, 2, 3], 0, 3, []]);
  ring.push(heard(4, 10));
  expect(ring.after(3).map(({ revision }) => revision)).toEqual([4]);
});

it('has the heaviest of all rings forget first, until all together weigh little enough', () => {
  const [light, heavy, heavier] = [new EventRing(0), new EventRing(0), new EventRing(0)] as const;
  for (let revision = 1; revision <= 100; revision++) {
    light.push(event(revision, 1));
    heavy.push(event(revision, 100));
    heavier.push(event(revision, 120));
  }
  shed([light, heavy, heavier], 15_000);
  expect(light.after(0)).toHaveLength(100);
  expect(light.bytes + heavy.bytes + heavier.bytes).toBeLessThanOrEqual(15_000);
  for (const ring of [heavy, heavier]) expect(ring.bytes).toBeGreaterThan(5_000);
  shed([light, heavy, heavier], 0);
  expect([light, heavy, heavier].map(({ bytes, oldest }) => [bytes, oldest])).toEqual([
    [0, 100],
    [0, 100],
    [0, 100],
  ]);
});

it('what was made of the past for who asked for it is bounded, the newest is there for others', () => {
  const past = stateAt(1);
  past.retire();
  const { object } = past;
  expect(past.object).toBe(object);
  const others = Math.ceil(remadeBytesMax / past.weight);
  for (let at = 0; at < others; at++) {
    const other = stateAt(1, `b${at}`);
    other.retire();
    expect(other.line).toBe(other.line);
  }
  expect(past.object).not.toBe(object);
  expect(past.object).toEqual(object);
});
