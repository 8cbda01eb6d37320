// Recent changes of one resource, so that a watch can resume where it stopped (k8s.io/apiserver/pkg/storage/cacher, watch cache).
import { ringAgeMs, ringBytesMax, ringEventsMax, ringEventsMin } from '../limits.ts';
import type { CacheEvent } from './event.ts';

/** Forgotten events at the front of the list that it is made anew for, and their least share of it: one in so many. */
const compactionMin = 256;
const compactionShare = 16;

/** So many of the newest keep what they look like on the wire and decoded, for those who hear of them now, unless together they weigh more. */
const hotEventsMax = 64;
const hotBytesMax = 16 * 1024 * 1024;

export class EventRing {
  #events: CacheEvent[] = [];
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
      this.#since = head.revision;
      this.#bytes -= head.bytes;
      this.#start++;
    }
    this.#coolDown();
    // What is no longer remembered is let go of soon: each event holds two objects.
    const isMuch = this.#start > compactionMin && this.#start * compactionShare > this.#events.length;
    if (isMuch || this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#hotFrom -= this.#start;
      this.#start = 0;
    }
  }

  #coolDown(): void {
    for (;;) {
      const hot = this.#events.length - this.#hotFrom;
      const isFew = hot <= hotEventsMax && (hot <= 1 || this.#hotBytes <= hotBytesMax);
      if (isFew && this.#hotFrom >= this.#start) return;
      const oldest = this.#events[this.#hotFrom++] as CacheEvent;
      oldest.coolDown();
      this.#hotBytes -= oldest.bytes;
    }
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
    return this.#events.slice(low);
  }
}
