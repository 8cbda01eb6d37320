// Eventual consistency: worlds of the last moments, so that reads can show how it was. Kept only while that is asked for.
import type { World } from '../model/index.ts';

/** Worlds kept at most; with more changes than that in the time, reads lag a little less. */
const worldsMax = 10_000;

export interface LaggingWorlds {
  /** The newest world from `nowMs` on. */
  push(world: World, nowMs: number): void;
  /** The world as it was. */
  at(timeMs: number): World;
  /** Forgets the past: reads show this world or newer ones. */
  reset(world: World, nowMs: number): void;
}

/** Keeps earlier worlds, to answer from them. All times are of one monotonic clock. */
export function laggingWorlds(first: World): LaggingWorlds {
  let past: { world: World; sinceMs: number }[] = [{ world: first, sinceMs: -Infinity }];
  return {
    push(world, sinceMs) {
      past.push({ world, sinceMs });
      if (past.length > worldsMax) past.shift();
    },
    at(timeMs) {
      let index = past.length - 1;
      while (index > 0 && (past[index]?.sinceMs ?? 0) > timeMs) index--;
      past = past.slice(index);
      return (past[0] as { world: World }).world;
    },
    reset(world, sinceMs) {
      past = [{ world, sinceMs }];
    },
  };
}
