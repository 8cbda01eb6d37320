// What a change knows beside the world.
import type { InstanceType, Zone } from '../model/index.ts';
import type { Quotas } from './limits.ts';

export interface Account {
  id: string;
  /** `service`: a service of the provider, which sees all accounts and may have interfaces in their subnets. */
  role: 'customer' | 'service';
}

export interface Settings {
  region: string;
  zones: readonly Zone[];
  /** The first is the default one. */
  instanceTypes: readonly InstanceType[];
  publicCidr: string;
  /** Marks the cloud's pieces of real networks on the machine. Absent where there are no real networks, and interfaces have no namespaces. */
  mark?: string;
  quotas: Quotas;
  /** How long a terminated instance is still listed. */
  terminatedKeepMs: number;
}

export interface Context {
  /** A new id: the prefix, a dash and eight hex digits. May repeat itself; it is asked again then. */
  ids(prefix: string): string;
  /** Milliseconds since the epoch. */
  now: number;
  account: Account;
  settings: Settings;
}

export const timestamp = (now: number): string => new Date(now).toISOString();
