// The ranges that are routed to an interface in a VPC. The API takes whole lists: changes of one interface that come together are one write, each
// made of what is there at that moment.
import { createSharedWrites } from 'sagong/cloud-provider/kit';
import type { ApiClient } from '../api/client.ts';
import { linodeApi } from '../api/linode.ts';
import type { RangeList, VpcIp } from '../api/types.ts';

export type Family = 'ipv4' | 'ipv6';
export type Ranges = Readonly<Record<Family, readonly string[]>>;

/** Where an interface is: of the Linode itself, or of a configuration profile. */
export type InterfaceRef = Pick<VpcIp, 'interface_id' | 'config_id'> & { linode_id: number };

export const familyOf = (cidr: string): Family => (cidr.includes(':') ? 'ipv6' : 'ipv4');

const textsIn = (list: RangeList | null | undefined): string[] => (list?.ranges ?? []).map(({ range }) => range);
const listOf = (ranges: readonly string[]) => ({ ranges: ranges.map((range) => ({ range })) });

async function readRanges(client: ApiClient, ref: InterfaceRef, signal: AbortSignal): Promise<Ranges> {
  const api = linodeApi(client, signal);
  const { linode_id: linode, config_id: profile, interface_id: id } = ref;
  if (profile === null) {
    const { vpc } = (await api.interface(linode, id)) ?? {};
    if (!vpc) throw new Error(`interface ${id} of Linode ${linode} is not in a VPC`);
    return { ipv4: textsIn(vpc.ipv4), ipv6: textsIn(vpc.ipv6) };
  }
  const found = await api.configInterface(linode, profile, id);
  if (!found) throw new Error(`interface ${id} of Linode ${linode} does not exist`);
  return { ipv4: found.ip_ranges ?? [], ipv6: textsIn(found.ipv6) };
}

/** Writes only the families that differ: not every interface has both. */
async function writeRanges(
  client: ApiClient,
  ref: InterfaceRef,
  there: Ranges,
  wanted: Ranges,
  signal: AbortSignal,
): Promise<void> {
  const api = linodeApi(client, signal);
  const { linode_id: linode, config_id: profile, interface_id: id } = ref;
  const differs = (family: Family): boolean => there[family].join() !== wanted[family].join();
  if (profile === null) {
    const changed = (['ipv4', 'ipv6'] as const).filter(differs).map((family) => [family, listOf(wanted[family])]);
    await api.setInterface(linode, id, { vpc: Object.fromEntries(changed) as Partial<Record<Family, RangeList>> });
    return;
  }
  await api.setConfigInterface(linode, profile, id, {
    ...(differs('ipv4') && { ip_ranges: [...wanted.ipv4] }),
    ...(differs('ipv6') && { ipv6: listOf(wanted.ipv6) }),
  });
}

/** A function that adds a range to an interface, or takes it away. What is so already costs no write. */
export function createRangeWriter(client: ApiClient) {
  const refs = new Map<string, InterfaceRef>();
  const last = new Map<string, Ranges>();
  const write = createSharedWrites<Ranges>({
    async read(key, signal) {
      const there = await readRanges(client, refs.get(key) as InterfaceRef, signal);
      last.set(key, there);
      return there;
    },
    async write(key, wanted, signal) {
      await writeRanges(client, refs.get(key) as InterfaceRef, last.get(key) as Ranges, wanted, signal);
      return wanted;
    },
  });
  return async (ref: InterfaceRef, cidr: string, isWanted: boolean, signal?: AbortSignal): Promise<void> => {
    const key = `${ref.linode_id} ${ref.config_id} ${ref.interface_id}`;
    const family = familyOf(cidr);
    refs.set(key, ref);
    const change = (there: Ranges): Ranges | undefined => {
      if (there[family].includes(cidr) === isWanted) return undefined;
      const others = there[family].filter((range) => range !== cidr);
      return { ...there, [family]: isWanted ? [...others, cidr] : others };
    };
    await write(key, change, signal);
  };
}
