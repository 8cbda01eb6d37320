// How much garbage may lie about. V8 lets a heap grow to as much as four times what lived in it at the last collection, and the more so the busier the machine
// is: a cluster of a thousand nodes under attack held 380 MB of objects in 1.5 GB. A heap that has become large is collected each time it has doubled, at the
// latest: each collection holds the main thread for a third of a second in steps, which others notice where the cores are few. A
// small one is left to V8, for which it saves a fifth of the work of a cluster at rest. V8 reads the flag at the end of each collection, so it may change
// while the process runs.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const megabyte = 1024 * 1024;
export const heapBounds = {
  /** From here on garbage is bounded, and below `small` no more. */
  largeBytes: 384 * megabyte,
  smallBytes: 192 * megabyte,
  growingPercent: 100,
  lookEveryMs: 10_000,
  /** The launcher saves the compiled code of the first minute, which is of use only to a process of the same flags. */
  firstLookMs: 120_000,
};

/** The percentage by which the heap may grow between collections, 0: V8 chooses. */
export function growingPercent(usedBytes: number, before: number): number {
  if (usedBytes > heapBounds.largeBytes) return heapBounds.growingPercent;
  return usedBytes < heapBounds.smallBytes ? 0 : before;
}

export interface Heap {
  usedBytes(): number;
  setGrowingPercent(percent: number): void;
}

const v8Heap: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  setGrowingPercent: (percent) => setFlagsFromString(`--heap-growing-percent=${percent}`),
};

/** Looks at the heap for as long as the process lives, or until the result is called. Keeps no process alive. */
export function boundGarbage(heap: Heap = v8Heap): () => void {
  let percent = 0;
  const look = (): void => {
    const next = growingPercent(heap.usedBytes(), percent);
    if (next !== percent) heap.setGrowingPercent(next);
    percent = next;
    timer = setTimeout(look, heapBounds.lookEveryMs).unref();
  };
  let timer = setTimeout(look, heapBounds.firstLookMs).unref();
  return () => clearTimeout(timer);
}
