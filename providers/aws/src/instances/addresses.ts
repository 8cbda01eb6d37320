// The addresses of a Node from what EC2 says of its instance. Pure.
import type { Instance, InstanceNetworkInterface, NetworkInterface } from '@aws-sdk/client-ec2';
import type { NodeAddress } from 'sagong/cloud-provider';

const inUse = ({ NetworkInterfaces = [] }: Instance): InstanceNetworkInterface[] =>
  NetworkInterfaces.filter(({ Status }) => Status === 'in-use').toSorted(
    (a, b) => (a.Attachment?.DeviceIndex ?? Infinity) - (b.Attachment?.DeviceIndex ?? Infinity) || 0,
  );

const given = (type: NodeAddress['type'], ...addresses: (string | undefined)[]): NodeAddress[] =>
  addresses.flatMap((address) => (address ? [{ type, address }] : []));

const v4 = (instance: Instance): NodeAddress[] => [
  ...given(
    'InternalIP',
    ...inUse(instance).flatMap(({ PrivateIpAddresses = [] }) => PrivateIpAddresses.map((each) => each.PrivateIpAddress)),
  ),
  ...given('ExternalIP', instance.PublicIpAddress),
  ...given('InternalDNS', instance.PrivateDnsName),
  ...given('Hostname', instance.PrivateDnsName),
  ...given('ExternalDNS', instance.PublicDnsName),
];

/** The first one of each interface. They count as internal although they can be reached from outside. */
const v6 = (instance: Instance): NodeAddress[] =>
  given('InternalIP', ...inUse(instance).map(({ Ipv6Addresses = [] }) => Ipv6Addresses[0]?.Ipv6Address));

/** The addresses of a node, in the order of `NodeIPFamilies`. */
export const nodeAddresses = (instance: Instance, families: readonly ('ipv4' | 'ipv6')[]): NodeAddress[] =>
  families.flatMap((family) => (family === 'ipv4' ? v4(instance) : v6(instance)));

/** The addresses of a Node of Fargate, by its network interface. */
export const interfaceAddresses = (found: NetworkInterface, families: readonly ('ipv4' | 'ipv6')[]): NodeAddress[] =>
  families.flatMap((family) => {
    const address = family === 'ipv4' ? found.PrivateIpAddress : found.Ipv6Addresses?.[0]?.Ipv6Address;
    return address ? [...given('InternalIP', address), ...given('InternalDNS', found.PrivateDnsName)] : [];
  });
