// Names of load balancers as AWS makes them, in public zones of the local cloud: its name servers know them, and so does cluster DNS.
import { type CloudClient, isNotFound } from '../../client/index.ts';
import type { Account } from './account.ts';
import { dnsTtlSeconds } from './limits.ts';

export const classicZone = (region: string): string => `${region}.elb.amazonaws.com`;
export const networkZone = (region: string): string => `elb.${region}.amazonaws.com`;

/** Finds or makes the two zones in which load balancers have names: one for classic ones, one for network ones. */
export async function openNames(cloud: CloudClient, region: string): Promise<Account['names']> {
  const zones = new Map<string, string>();
  for (const name of [classicZone(region), networkZone(region)]) {
    const known = (await cloud.listDnsZones({ name })).items.find(({ visibility }) => visibility === 'public');
    zones.set(name, (known ?? (await cloud.createDnsZone({ name, visibility: 'public' }))).id);
  }
  const zoneOf = (name: string): string => {
    const [, id] = [...zones].find(([zone]) => name.endsWith(`.${zone}`)) ?? [];
    if (id === undefined) throw new Error(`${name} is in none of the zones of load balancers`);
    return id;
  };
  return {
    async put(name, address) {
      const record = { ttlSeconds: dnsTtlSeconds, values: [address] };
      await cloud.putDnsRecord({ dnsZoneId: zoneOf(name), type: 'A', name, ...record });
    },
    async remove(name) {
      await cloud.deleteDnsRecord({ dnsZoneId: zoneOf(name), type: 'A', name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    },
  };
}
