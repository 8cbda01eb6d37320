import { expect, it } from 'vitest';
import { ringBytesMax } from '../limits.ts';
import { CacheEvent } from './event.ts';
import { EventRing } from './event-ring.ts';

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
