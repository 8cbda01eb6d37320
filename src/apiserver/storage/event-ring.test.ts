import { expect, it } from 'vitest';
import { ringBytesMax } from '../limits.ts';
import { CacheEvent } from './event.ts';
import { EventRing } from './event-ring.ts';
import { StoredObject } from './stored-object.ts';

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
