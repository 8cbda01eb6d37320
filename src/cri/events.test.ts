import { expect, it } from 'vitest';
import { taskEvent } from './events.ts';

const field = (number: number, text: string): number[] => [(number << 3) | 2, text.length, ...Buffer.from(text)];

it('reads container and process of a task event', () => {
  const exit = Uint8Array.from([...field(1, 'abc'), ...field(2, 'exec-1'), 0x18, 0x05]);
  expect(taskEvent(exit)).toEqual({ containerId: 'abc', processId: 'exec-1' });
});

it.each([[[]], [[0x0a]], [[0x0a, 200, 1]], [[0x12, 1, 65]], [[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]]])(
  'finds nothing in %j and does not fail',
  (bytes) => {
    expect(taskEvent(Uint8Array.from(bytes)).containerId).toBeUndefined();
  },
);
