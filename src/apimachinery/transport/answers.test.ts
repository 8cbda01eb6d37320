import { expect, test } from 'vitest';
import { eventReader, failureOf } from './answers.ts';

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

test.each([
  ['text/plain; charset=utf-8', 'beginning of'],
  [undefined, 'beginning of'],
  ['application/json', 'unknown'],
])('of a page that is no Status, of type %s, the beginning is told where it is text', (type, beginning) => {
  const { status } = failureOf({ status: 500, text: `beginning of ${'x'.repeat(1_000_000)}`, type }, 'GET', {
    group: '',
    resource: 'pods',
  });
  expect(status.message).toContain(`an error on the server ("${beginning}`);
  expect(JSON.stringify(status).length).toBeLessThan(5_000);
});
