// A network interface as EC2 shows it, at its instance and alone. Pure.
import type { NetworkInterface } from '../../../model/index.ts';
import { accountId, tagItems } from '../account.ts';
import type { Xml } from '../xml.ts';

export const groupItems = (ids: readonly string[], names: ReadonlyMap<string, string>): Xml[] =>
  ids.map((id) => ({ groupId: id, groupName: names.get(id) ?? '' }));

export const privateDnsName = (address: string, region: string): string =>
  `ip-${address.replaceAll('.', '-')}.${region}.compute.internal`;

/** Both forms share these. */
function common(item: NetworkInterface, names: ReadonlyMap<string, string>, region: string) {
  const { id, subnetId, vpcId, description, privateAddress, publicAddress, sourceDestCheck, securityGroupIds } = item;
  const dnsName = privateDnsName(privateAddress, region);
  const association =
    publicAddress === undefined ? undefined : { publicIp: publicAddress, publicDnsName: '', ipOwnerId: 'amazon' };
  return {
    networkInterfaceId: id,
    subnetId,
    vpcId,
    description,
    ownerId: accountId,
    status: item.attachment || item.instanceOwnerId !== undefined ? 'in-use' : 'available',
    privateIpAddress: privateAddress,
    privateDnsName: dnsName,
    sourceDestCheck,
    groupSet: groupItems(securityGroupIds, names),
    association,
    privateIpAddressesSet: [{ privateIpAddress: privateAddress, privateDnsName: dnsName, primary: true, association }],
    ipv6AddressesSet: [],
  };
}

const attachmentId = (id: string): string => `eni-attach-${id.slice(id.indexOf('-') + 1)}`;

const attachmentOf = ({ id, attachment, createdAt }: NetworkInterface) =>
  attachment && {
    attachmentId: attachmentId(id),
    deviceIndex: attachment.deviceIndex,
    status: 'attached',
    attachTime: createdAt,
    deleteOnTermination: true,
  };

/** The attachment of an interface to an instance of the provider's, which customers do not see. */
const managedAttachment = ({ id, createdAt, instanceOwnerId }: NetworkInterface) =>
  instanceOwnerId && {
    attachmentId: attachmentId(id),
    ...{ deviceIndex: 1, status: 'attached', attachTime: createdAt, deleteOnTermination: false, instanceOwnerId },
  };

export const instanceInterface = (item: NetworkInterface, names: ReadonlyMap<string, string>, region: string): Xml => ({
  ...common(item, names, region),
  attachment: attachmentOf(item),
});

export const loneInterface = (item: NetworkInterface, names: ReadonlyMap<string, string>, region: string): Xml => ({
  ...common(item, names, region),
  availabilityZone: item.zone,
  requesterManaged: item.requesterManaged,
  requesterId: item.requesterId,
  attachment: item.attachment
    ? { ...attachmentOf(item), instanceId: item.attachment.instanceId, instanceOwnerId: accountId }
    : managedAttachment(item),
  tagSet: tagItems(item.tags),
});
