// Subnets, which change rarely, kept for a while.
import type { Clock } from 'sagong/cloud-provider';
import { createCache } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './api/client.ts';
import { coreApi } from './api/core.ts';
import type { Subnet } from './api/types.ts';
import { subnetTtlMs } from './limits.ts';

export interface Subnets {
  /** Rejects with kind `absent`. */
  get(id: string, signal?: AbortSignal): Promise<Subnet>;
  /** Rejects when one of them does not exist. */
  all(ids: readonly string[], signal?: AbortSignal): Promise<Subnet[]>;
}

export function createSubnets(client: ApiClient, clock: Clock): Subnets {
  const cache = createCache({ clock, ttlMs: subnetTtlMs, read: (id, signal) => coreApi(client, signal).subnet(id) });
  return {
    get: (id, signal) => cache.get(id, signal),
    all: (ids, signal) => Promise.all(ids.map((id) => cache.get(id, signal))),
  };
}

export const ipv6BlocksOf = ({ ipv6CidrBlock, ipv6CidrBlocks }: Subnet): string[] =>
  ipv6CidrBlocks?.length ? ipv6CidrBlocks : ipv6CidrBlock ? [ipv6CidrBlock] : [];

/** A subnet of IPv6 alone has `<null>` for its block. */
export const ipv4BlocksOf = ({ cidrBlock }: Subnet): string[] => (cidrBlock && !cidrBlock.includes('null') ? [cidrBlock] : []);
