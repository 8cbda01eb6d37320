// What accounts of several vendors have in common: how they are kept, how their owner is known, how they number what the local cloud names.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Rng } from '#utils';
import { Refusal } from '../test-server/request.ts';

/** An account as text, which `save` is given. */
export const savedText = (account: object): string => JSON.stringify({ version: 1, ...account });

/** What `savedText` was given. Throws for the text of another version of this program. */
export function savedAccount<T>(vendor: string, text: string): T {
  const saved = JSON.parse(text) as T & { version: number };
  if (saved.version !== 1) throw new Error(`the account of the emulated ${vendor} is of another version of this program`);
  return saved;
}

/** Whether two secrets are the same, in a time that says nothing about where they differ. */
export function sameSecret(given: string | undefined, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(expected));
}

/** The number of a machine in the local cloud, which is what follows `i-`, for vendors whose machines are numbered. */
export const machineNumber = (id: string): number => Number.parseInt(id.replace(/^i-/, ''), 16);
export const machineOfNumber = (number: number): string => `i-${number.toString(16).padStart(8, '0')}`;

/** The first that nobody has. Throws a `Refusal` where there is none. */
export function freeAddress(free: readonly string[], taken: readonly string[]): string {
  const address = free.find((one) => !taken.includes(one));
  if (address === undefined) throw new Refusal(503, 'unavailable', 'there is no free address; try again');
  return address;
}

/** So many addresses at the end of a subnet are looked at. The local cloud hands out addresses from the beginning, so these are free for longest. */
const privateChoices = 256;

/** An address of a subnet that is not in `taken`, chosen by chance: if the local cloud has given it to somebody else, the next try takes another. */
export function privateAddress(cidr: string, taken: readonly string[], rng: Pick<Rng, 'int'>): string {
  const [network = '', bits = '32'] = cidr.split('/');
  const first = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(bits)) - 2;
  const text = (number: number): string => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
  const free = Array.from({ length: privateChoices }, (_, index) => text(last - index)).filter((one) => !taken.includes(one));
  const chosen = free[rng.int(free.length || 1)];
  if (chosen === undefined) throw new Refusal(503, 'unavailable', 'there is no free private address');
  return chosen;
}

/** How long clients stay with a machine where the vendor has affinity and names no time. */
export const affinitySeconds = 600;

/** The ranges that each list lets in: where everybody is let in, other ranges say nothing. */
export function rangesInAll(lists: readonly (readonly string[])[]): string[] {
  const everybody = '0.0.0.0/0';
  const narrow = lists.filter((list) => !list.includes(everybody));
  const [first, ...others] = narrow;
  if (first === undefined) return lists.length > 0 ? [everybody] : [];
  return first.filter((range) => others.every((list) => list.includes(range)));
}
