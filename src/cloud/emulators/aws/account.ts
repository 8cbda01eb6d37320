// What every action works with.
import { createHash } from 'node:crypto';
import type { Clock, Rng } from '#utils';
import type { CloudClient } from '../../client/index.ts';
import type { FactStore } from './facts.ts';
import type { Parameters } from './parameters.ts';
import type { Xml } from './xml.ts';

export interface Account {
  readonly cloud: CloudClient;
  readonly facts: FactStore;
  readonly region: string;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Records of load balancers' names. */
  readonly names: { put(name: string, address: string): Promise<void>; remove(name: string): Promise<void> };
}

/** Gives the fields of the answer. */
export type Action = (account: Account, parameters: Parameters) => Promise<Xml>;
export type Actions = Readonly<Record<string, Action>>;

/** The one account: AWS's numbers have twelve digits. */
export const accountId = '000000000000';

export const tagItems = (tags: Readonly<Record<string, string>>) => Object.entries(tags).map(([key, value]) => ({ key, value }));
/** Tags in the words of Elastic Load Balancing. */
export const tagMembers = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

/** Hex digits that are always the same for the same thing. */
export const digest = (text: string, digits: number): string => createHash('sha256').update(text).digest('hex').slice(0, digits);
/** An ID of so many random hexadecimal digits. */
export const newId = ({ rng }: Account, digits: number): string => rng.uuid().replaceAll('-', '').slice(0, digits);
