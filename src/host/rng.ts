// Real randomness: UUIDs from the operating system's generator, the rest from V8's (not for secrets: those come from #pki).
import { randomUUID } from 'node:crypto';
import type { Rng } from '#utils';

export const systemRng = (): Rng => ({
  next: () => Math.random(),
  int: (bound) => Math.floor(Math.random() * bound),
  uuid: () => randomUUID(),
});
