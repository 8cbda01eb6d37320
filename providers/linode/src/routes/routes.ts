// Routes from VPCs to the pods of each Node: ranges of the Linode's interface (linode-cloud-controller-manager route_controller.go).
import { BlockList } from 'node:net';
import type { Node, Route, Routes } from 'sagong/cloud-provider';
import type { ApiClient } from '../api/client.ts';
import type { VpcIp } from '../api/types.ts';
import type { Finder } from '../instances/finder.ts';
import type { Vpcs } from '../vpcs.ts';
import { createRangeWriter, familyOf, type InterfaceRef } from './interfaces.ts';
import type { KnownNodes } from './known-nodes.ts';

export interface RoutesDeps {
  client: ApiClient;
  finder: Finder;
  vpcs: Vpcs;
  nodes: KnownNodes;
}

const refOf = ({ linode_id: linode, interface_id, config_id }: VpcIp): InterfaceRef | undefined =>
  linode === null ? undefined : { linode_id: linode, interface_id, config_id };
const rangeIn = ({ address_range: ipv4, ipv6_range: ipv6 }: VpcIp): string | undefined => ipv4 || ipv6 || undefined;

/** Whether one IPv6 range lies in another: pods of a Node may have a part of the range that its Linode has anyway. */
function covers(outer: string, inner: string): boolean {
  const [network = '', bits] = outer.split('/');
  const [address = '', innerBits] = inner.split('/');
  if (familyOf(outer) !== 'ipv6' || familyOf(inner) !== 'ipv6' || Number(bits) > Number(innerBits)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), 'ipv6');
  return list.check(address, 'ipv6');
}

/** `<linode>/<range>`; of a range that is a part of the Linode's own: with `part` in front, as there is nothing to be deleted. */
const partPrefix = 'part/';
const nameOf = (linode: number, range: string): string => `${linode}/${range}`;

const nodeNamed = (name: string): Node => ({ metadata: { name } });

export function createRoutes({ client, finder, vpcs, nodes }: RoutesDeps): Routes {
  const setRange = createRangeWriter(client);

  async function interfacesOf(linode: number, signal?: AbortSignal): Promise<VpcIp[]> {
    return (await vpcs.ips(signal)).filter((ip) => ip.linode_id === linode);
  }
  /** The first interface with an address in the VPCs of the cluster. */
  async function interfaceOf(linode: number, family: string, signal?: AbortSignal): Promise<InterfaceRef | undefined> {
    const all = await interfacesOf(linode, signal);
    const found = all.find(({ address }) => address) ?? (family === 'ipv6' ? all[0] : undefined);
    return found && refOf(found);
  }
  const isCovered = async (linode: number, cidr: string, signal?: AbortSignal): Promise<boolean> =>
    (await interfacesOf(linode, signal)).some((ip) => covers(ip.ipv6_range ?? '', cidr) && ip.ipv6_range !== cidr);

  function routesOf(linode: number, targetNode: string, ips: readonly VpcIp[]): Route[] {
    const route = (destinationCidr: string, name = nameOf(linode, destinationCidr)): Route => ({
      name,
      targetNode,
      targetNodeAddresses: [],
      destinationCidr,
    });
    const ranges = ips.flatMap((ip) => rangeIn(ip) ?? []);
    const parts = nodes
      .podCidrs(targetNode)
      .filter((cidr) => !ranges.includes(cidr) && ranges.some((range) => covers(range, cidr)));
    // The Linode's own ranges around those parts are no routes of the cluster.
    const own = ranges.filter((range) => !parts.some((cidr) => covers(range, cidr)));
    return [...own.map((range) => route(range)), ...parts.map((cidr) => route(cidr, partPrefix + nameOf(linode, cidr)))];
  }
  return {
    async listRoutes(_cluster, signal) {
      const byLinode = new Map<number, VpcIp[]>();
      for (const ip of await vpcs.ips(signal))
        if (ip.linode_id !== null) byLinode.set(ip.linode_id, [...(byLinode.get(ip.linode_id) ?? []), ip]);
      const labels = new Map((await finder.all(signal)).map(({ id, label }) => [id, label]));
      return [...byLinode].flatMap(([linode, ips]) => {
        const name = nodes.nameOf(linode, labels.get(linode));
        return name === undefined ? [] : routesOf(linode, name, ips);
      });
    },
    async createRoute(_cluster, _nameHint, { targetNode, destinationCidr }, signal) {
      const node = nodes.get(targetNode) ?? nodeNamed(targetNode);
      const linode = await finder.ofNode(node, signal);
      const family = familyOf(destinationCidr);
      let ref = linode && (await interfaceOf(linode.id, family, signal));
      if (linode && !ref) {
        // The list may be older than the Linode.
        vpcs.forget();
        ref = await interfaceOf(linode.id, family, signal);
      }
      if (!linode || !ref)
        throw new Error(`unable to add route ${destinationCidr} for node ${targetNode}. no valid interface found`);
      if (family === 'ipv6' && (await isCovered(linode.id, destinationCidr, signal))) return;
      await setRange(ref, destinationCidr, true, signal).finally(() => vpcs.forget());
    },
    async deleteRoute(_cluster, { name, destinationCidr }, signal) {
      if (name.startsWith(partPrefix)) return;
      const linode = Number(name.split('/')[0]);
      // Without its Linode the range is gone as well.
      const found = (await interfacesOf(linode, signal)).find((ip) => rangeIn(ip) === destinationCidr);
      const ref = found && refOf(found);
      if (!ref || !(await finder.exists(linode, signal))) return;
      await setRange(ref, destinationCidr, false, signal).finally(() => vpcs.forget());
    },
  };
}
