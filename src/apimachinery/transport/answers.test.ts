import { expect, test } from 'vitest';
import { eventReader } from './answers.ts';

const events = [1, 2, 3].map((at) => ({ type: 'ADDED', object: { metadata: { name: `ü${at}` } } }));
const text = events.map((event) => `${JSON.stringify(event)}\n`).join('\n');

test.each([1, 2, 7, 64, text.length])('events are the same however their text is cut: by %d', (size) => {
  const heard: unknown[] = [];
  const read = eventReader((event) => heard.push(event), 100);
  for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size));
  expect(heard).toEqual(events);
});

test('an event without an end is too long at some time', () => {
  const read = eventReader(() => {}, 1000);
  const endless = (): void => {
    for (let count = 0; count < 200; count++) read('x'.repeat(10));
  };
  expect(endless).toThrow('a watch event exceeds the size limit');
});
