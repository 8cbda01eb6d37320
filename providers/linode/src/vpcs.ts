// The VPCs and subnets of the nodes: from labels or IDs of flags, and the addresses in them.
import type { Clock } from 'sagong/cloud-provider';
import { createCache, isAbsent } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './api/client.ts';
import { linodeApi } from './api/linode.ts';
import type { VpcIp } from './api/types.ts';
import type { FlagValues } from './config/flags.ts';
import { vpcsTtlMs } from './limits.ts';

export interface Vpcs {
  /** Whether the nodes are in VPCs at all. */
  inUse: boolean;
  ids(signal?: AbortSignal): Promise<number[]>;
  vpcNamed(label: string, signal?: AbortSignal): Promise<number>;
  /** The subnet of this name in a VPC. */
  subnetNamed(vpc: number, label: string, signal?: AbortSignal): Promise<number>;
  /** The first VPC, and the first subnet of the nodes in it: where NodeBalancers reach their backends by default. */
  first(signal?: AbortSignal): Promise<{ vpc: number; subnet: () => Promise<number> }>;
  /** All addresses and ranges of the nodes' subnets, of both families. */
  ips(signal?: AbortSignal): Promise<readonly VpcIp[]>;
  forget(): void;
}

export interface VpcsDeps {
  client: ApiClient;
  flags: FlagValues;
  clock: Clock;
  ttlMs: number;
}

/** IDs by labels, asked for again when a label is not known. */
function createLabels({ client, clock }: Pick<VpcsDeps, 'client' | 'clock'>) {
  const byLabel = createCache({
    clock,
    ttlMs: vpcsTtlMs,
    read: async (_key, signal) => new Map((await linodeApi(client, signal).vpcs()).map(({ label, id }) => [label, id])),
  });
  const subnets = createCache({
    clock,
    ttlMs: vpcsTtlMs,
    read: async (vpc, signal) =>
      new Map((await linodeApi(client, signal).subnets(Number(vpc))).map(({ label, id }) => [label, id])),
  });
  async function vpcNamed(label: string, signal?: AbortSignal): Promise<number> {
    for (let tries = 0; tries < 2; tries++) {
      const id = (await byLabel.get('', signal)).get(label);
      if (id !== undefined) return id;
      byLabel.forget();
    }
    throw new Error(`failed to find VPC: ${JSON.stringify(label)}`);
  }
  async function subnetNamed(vpc: number, label: string, signal?: AbortSignal): Promise<number> {
    for (let tries = 0; tries < 2; tries++) {
      const id = (await subnets.get(String(vpc), signal)).get(label);
      if (id !== undefined) return id;
      subnets.forget(String(vpc));
    }
    throw new Error(`failed to find subnet: ${JSON.stringify(label)}`);
  }
  return { vpcNamed, subnetNamed, subnetsOf: (vpc: number, signal?: AbortSignal) => subnets.get(String(vpc), signal) };
}

export function createVpcs({ client, flags, clock, ttlMs }: VpcsDeps): Vpcs {
  const { vpcNames, vpcIds, subnetNames, subnetIds } = flags;
  const { vpcNamed, subnetNamed, subnetsOf } = createLabels({ client, clock });
  const ids = async (signal?: AbortSignal): Promise<number[]> =>
    vpcIds.length > 0 ? vpcIds : Promise.all(vpcNames.map((name) => vpcNamed(name, signal)));
  /** The subnets whose addresses count; undefined: all. One that is not there is passed over, as a VPC may lack it. */
  async function wantedSubnets(vpc: number, signal?: AbortSignal): Promise<Set<number> | undefined> {
    if (subnetIds.length > 0) return new Set(subnetIds);
    if (subnetNames.length === 0) return undefined;
    const known = await subnetsOf(vpc, signal);
    return new Set(subnetNames.flatMap((name) => known.get(name) ?? []));
  }
  const lists = createCache({
    clock,
    ttlMs,
    async read(_key, signal): Promise<VpcIp[]> {
      const api = linodeApi(client, signal);
      const all: VpcIp[] = [];
      for (const vpc of await ids(signal)) {
        const wanted = await wantedSubnets(vpc, signal);
        // Not every account has IPv6 in its VPCs: there the list does not exist.
        const ipv6 = await api.vpcIpv6s(vpc).catch((error: unknown) => {
          if (!isAbsent(error)) throw error;
          return [];
        });
        all.push(...[...(await api.vpcIps(vpc)), ...ipv6].filter(({ subnet_id: id }) => wanted?.has(id) ?? true));
      }
      return all;
    },
  });
  return {
    inUse: vpcNames.length + vpcIds.length > 0,
    ids,
    vpcNamed,
    subnetNamed,
    async first(signal) {
      const [vpc] = await ids(signal);
      if (vpc === undefined) throw new Error('CCM not configured with VPC, cannot create NodeBalancer with specified annotation');
      const subnet = (): Promise<number> =>
        subnetIds[0] === undefined ? subnetNamed(vpc, subnetNames[0] ?? '', signal) : Promise.resolve(subnetIds[0]);
      return { vpc, subnet };
    },
    ips: (signal) => lists.get('', signal),
    forget: () => lists.forget(),
  };
}
