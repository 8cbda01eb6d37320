import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { boundGarbage, growingPercent, heapBounds } from './heap.ts';

const { largeBytes, smallBytes, growingPercent: bounded } = heapBounds;

test('a large heap is bounded until it is small again', () => {
  expect(growingPercent(largeBytes + 1, 0)).toBe(bounded);
  expect(growingPercent(largeBytes, 0)).toBe(0);
  expect(growingPercent(smallBytes, bounded)).toBe(bounded);
  expect(growingPercent(smallBytes - 1, bounded)).toBe(0);
});

test('V8 is told when it changes, after the launcher has saved its code, and no more once it is over', () => {
  vi.useFakeTimers();
  try {
    let usedBytes = largeBytes + 1;
    const told: number[] = [];
    const stop = boundGarbage({ usedBytes: () => usedBytes, setGrowingPercent: (percent) => void told.push(percent) });
    vi.advanceTimersByTime(heapBounds.firstLookMs - 1);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1 + 3 * heapBounds.lookEveryMs);
    expect(told).toEqual([bounded]);
    usedBytes = smallBytes - 1;
    vi.advanceTimersByTime(3 * heapBounds.lookEveryMs);
    expect(told).toEqual([bounded, 0]);
    stop();
    usedBytes = largeBytes + 1;
    vi.advanceTimersByTime(10 * heapBounds.lookEveryMs);
    expect(told).toEqual([bounded, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test('this Node takes the flag while it runs, without a word', () => {
  const script =
    "require('node:v8').setFlagsFromString('--heap-growing-percent=50'); new (require('node:vm').Script)('1').runInThisContext()";
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
