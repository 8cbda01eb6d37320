// Addresses of a Node, from the VNICs of its instance. Pure.
import { isIPv6 } from 'node:net';
import type { Node } from 'sagong/cloud-provider';
import type { Instance, Vnic } from '../api/types.ts';

type NodeAddress = NonNullable<NonNullable<Node['status']>['addresses']>[number];

const ipv6Label = 'oci.oraclecloud.com/ip-family-ipv6';

/** Unique local addresses (RFC 4193). */
const isPrivateIpv6 = (address: string): boolean => /^f[cd]/i.test(address);

/** The tag of a VNIC that OpenShift boots from, on instances that OpenShift has tagged. */
const openShift = 'openshift-';
const isBootVnic = ({ definedTags = {} }: Vnic, namespace: string): boolean =>
  definedTags[namespace]?.['boot-volume-type'] === 'ISCSI';

function* of({ privateIp, publicIp, ipv6Addresses = [] }: Vnic, withIpv6: boolean): Generator<NodeAddress> {
  if (privateIp) yield { type: 'InternalIP', address: privateIp };
  if (publicIp) yield { type: 'ExternalIP', address: publicIp };
  for (const address of withIpv6 ? ipv6Addresses : [])
    if (isIPv6(address)) yield { type: isPrivateIpv6(address) ? 'InternalIP' : 'ExternalIP', address };
}

/** The addresses of the primary VNIC; IPv6 ones where the Node says that it has that family. The first VNIC is the primary one. */
export function addressesOf({ definedTags = {} }: Instance, vnics: readonly Vnic[], node: Node): NodeAddress[] {
  const [primary, ...others] = vnics;
  if (!primary) throw new Error('the instance has no VNIC that is attached');
  const withIpv6 = node.metadata.labels?.[ipv6Label] !== undefined;
  const namespace = Object.keys(definedTags).find((one) => one.startsWith(openShift));
  const boot = namespace === undefined ? [] : others.filter((vnic) => isBootVnic(vnic, namespace));
  return [...of(primary, withIpv6), ...boot.flatMap((vnic) => [...of(vnic, false)])];
}
