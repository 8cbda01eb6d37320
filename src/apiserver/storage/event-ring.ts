// Recent changes of one resource, so that a watch can resume where it stopped (k8s.io/apiserver/pkg/storage/cacher, watch cache).
import { ringAgeMs, ringBytesMax, ringEventsMax, ringEventsMin } from '../limits.ts';
import type { CacheEvent } from './event.ts';

/** Forgotten events at the front of the list that it is made anew for, and their least share of it: one in so many. */
const compactionMin = 256;
const compactionShare = 16;

/** So many of the newest keep what they look like on the wire and decoded, for those who hear of them now, unless together they weigh more. */
const hotEventsMax = 64;
const hotBytesMax = 16 * 1024 * 1024;

/** What a ring keeps of its weight when all together have too much. */
const shedShare = 7 / 8;

export class EventRing {
  /** Those that are forgotten are undefined until the list is made anew. */
  #events: (CacheEvent | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  /** The first that is hot, and what the hot ones weigh. */
  #hotFrom = 0;
  #hotBytes = 0;
  #since: number;

  /** `since`: the revision from which on nothing is missing. */
  constructor(since: number) {
    this.#since = since;
  }

  /** A watch from this revision or later misses nothing. */
  get oldest(): number {
    return this.#since;
  }

  /** What is remembered weighs, in bytes of the stored objects. */
  get bytes(): number {
    return this.#bytes;
  }

  push(event: CacheEvent): void {
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.#hotBytes += event.bytes;
    for (;;) {
      const length = this.#events.length - this.#start;
      const head = this.#events[this.#start] as CacheEvent;
      const isOld = length > ringEventsMin && event.atMs - head.atMs > ringAgeMs;
      const isHeavy = length > 1 && this.#bytes > ringBytesMax;
      if (length <= ringEventsMax && !isOld && !isHeavy) break;
      this.#forgetOldest();
    }
    this.#coolDown();
    this.#compact();
  }

  /** Forgets the oldest changes until the others weigh no more than this; also the newest, if need be. */
  shrinkTo(bytes: number): void {
    while (this.#bytes > bytes) this.#forgetOldest();
    this.#coolDown();
    this.#compact();
  }

  #forgetOldest(): void {
    const oldest = this.#events[this.#start] as CacheEvent;
    if (this.#hotFrom === this.#start) this.#coolDownOne();
    this.#since = oldest.revision;
    this.#bytes -= oldest.bytes;
    // Each event holds two objects, which may be large.
    this.#events[this.#start++] = undefined;
  }

  #compact(): void {
    const isMuch = this.#start > compactionMin && this.#start * compactionShare > this.#events.length;
    if (!isMuch && this.#start * 2 <= this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#hotFrom -= this.#start;
    this.#start = 0;
  }

  #coolDown(): void {
    for (;;) {
      const hot = this.#events.length - this.#hotFrom;
      const isFew = hot <= hotEventsMax && (hot <= 1 || this.#hotBytes <= hotBytesMax);
      if (isFew) return;
      this.#coolDownOne();
    }
  }

  #coolDownOne(): void {
    const oldest = this.#events[this.#hotFrom++] as CacheEvent;
    oldest.coolDown();
    this.#hotBytes -= oldest.bytes;
  }

  /** Events after `revision`, in order. */
  after(revision: number): CacheEvent[] {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle] as CacheEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#events.slice(low) as CacheEvent[];
  }
}

/** Together the rings weigh no more than `bytesMax` afterwards: the heaviest forgets first. */
export function shed(rings: readonly EventRing[], bytesMax: number): void {
  let total = rings.reduce((sum, { bytes }) => sum + bytes, 0);
  while (total > bytesMax) {
    const heaviest = rings.reduce((most, one) => (one.bytes > most.bytes ? one : most));
    const before = heaviest.bytes;
    heaviest.shrinkTo(before * shedShare);
    total -= before - heaviest.bytes;
  }
}
