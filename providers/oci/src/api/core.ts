// Instances, VNICs, subnets, security lists, network security groups and public IPs (https://docs.oracle.com/iaas/api/#/en/iaas/20160918/).
import type { models } from 'oci-core';
import { undefinedIfAbsent, withTexts } from 'sagong/cloud-provider/kit';
import type { ApiClient } from './client.ts';
import type { GroupRule, Instance, PublicIp, SecurityGroup, SecurityList, Subnet, Tags, Vnic, VnicAttachment } from './types.ts';

export interface CoreApi {
  /** The instance with this ID; undefined where there is none, or it may not be seen. */
  instance(instanceId: string): Promise<Instance | undefined>;
  instances(compartmentId: string, displayName?: string): Promise<Instance[]>;
  attachments(compartmentId: string, instanceId?: string): Promise<VnicAttachment[]>;
  vnic(vnicId: string): Promise<Vnic | undefined>;
  subnet(subnetId: string): Promise<Subnet>;
  securityList(securityListId: string): Promise<SecurityList>;
  securityLists(compartmentId: string, vcnId: string): Promise<SecurityList[]>;
  /** Writes its rules, if nobody else has written since it was read. */
  writeSecurityList(list: SecurityList): Promise<SecurityList>;
  group(networkSecurityGroupId: string): Promise<SecurityGroup>;
  groups(compartmentId: string, vcnId: string, displayName: string): Promise<SecurityGroup[]>;
  createGroup(
    group: { compartmentId: string; vcnId: string; displayName: string; freeformTags: Tags },
    retryToken: string,
  ): Promise<SecurityGroup>;
  tagGroup(group: SecurityGroup, freeformTags: Tags): Promise<void>;
  deleteGroup(networkSecurityGroupId: string): Promise<void>;
  groupRules(networkSecurityGroupId: string): Promise<GroupRule[]>;
  addGroupRules(networkSecurityGroupId: string, securityRules: GroupRule[]): Promise<void>;
  removeGroupRules(networkSecurityGroupId: string, securityRuleIds: string[]): Promise<void>;
  publicIp(ipAddress: string): Promise<PublicIp>;
}

const securityListOf = (list: models.SecurityList, etag?: string): SecurityList => ({
  id: list.id,
  timeCreated: String(list.timeCreated),
  ingressSecurityRules: list.ingressSecurityRules as SecurityList['ingressSecurityRules'],
  egressSecurityRules: list.egressSecurityRules as SecurityList['egressSecurityRules'],
  ...(etag && { etag }),
});

function computeApi({ compute, read, list }: ApiClient, signal?: AbortSignal) {
  return {
    async instance(instanceId: string) {
      const answer = await read('instance.get', () => compute.getInstance({ instanceId }), signal).catch(undefinedIfAbsent);
      return answer?.instance as Instance | undefined;
    },
    async instances(compartmentId: string, displayName?: string) {
      const found = await list<Instance>(
        'instance.list',
        (page) => compute.listInstances({ compartmentId, ...(displayName && { displayName }), ...page }),
        signal,
      );
      return withTexts(found, 'id', 'displayName', 'lifecycleState');
    },
    attachments: (compartmentId: string, instanceId?: string) =>
      list<VnicAttachment>(
        'vnic_attachment.list',
        (page) => compute.listVnicAttachments({ compartmentId, ...(instanceId && { instanceId }), ...page }),
        signal,
      ),
  };
}

function groupApi({ network, read, write, list }: ApiClient, signal?: AbortSignal) {
  return {
    async group(networkSecurityGroupId: string) {
      const asked = () => network.getNetworkSecurityGroup({ networkSecurityGroupId });
      const { networkSecurityGroup, etag } = await read('network_security_groups.get', asked, signal);
      return { ...networkSecurityGroup, etag } as SecurityGroup;
    },
    groups: (compartmentId: string, vcnId: string, displayName: string) =>
      list<SecurityGroup>(
        'network_security_groups.list',
        (page) => network.listNetworkSecurityGroups({ compartmentId, vcnId, displayName, ...page }),
        signal,
      ),
    async createGroup(group: models.CreateNetworkSecurityGroupDetails, opcRetryToken: string) {
      const made = () => network.createNetworkSecurityGroup({ createNetworkSecurityGroupDetails: group, opcRetryToken });
      return (await write('network_security_groups.create', made, signal)).networkSecurityGroup as SecurityGroup;
    },
    async tagGroup({ id, etag }: SecurityGroup, freeformTags: Tags) {
      const request = {
        networkSecurityGroupId: id,
        updateNetworkSecurityGroupDetails: { freeformTags },
        ...(etag && { ifMatch: etag }),
      };
      await write('network_security_groups.update', () => network.updateNetworkSecurityGroup(request), signal);
    },
    async deleteGroup(networkSecurityGroupId: string) {
      const gone = () => network.deleteNetworkSecurityGroup({ networkSecurityGroupId });
      await write('network_security_groups.delete', gone, signal).catch(undefinedIfAbsent);
    },
    groupRules: (networkSecurityGroupId: string) =>
      list<GroupRule>(
        'network_security_group_rules.list',
        async (page) => {
          const answer = await network.listNetworkSecurityGroupSecurityRules({ networkSecurityGroupId, ...page });
          return { items: answer.items as GroupRule[], opcNextPage: answer.opcNextPage };
        },
        signal,
      ),
    async addGroupRules(networkSecurityGroupId: string, securityRules: GroupRule[]) {
      const details = { securityRules: securityRules as models.AddSecurityRuleDetails[] };
      const request = { networkSecurityGroupId, addNetworkSecurityGroupSecurityRulesDetails: details };
      const added = () => network.addNetworkSecurityGroupSecurityRules(request);
      await write('network_security_group_rules.create', added, signal);
    },
    async removeGroupRules(networkSecurityGroupId: string, securityRuleIds: string[]) {
      const details = { securityRuleIds };
      const request = { networkSecurityGroupId, removeNetworkSecurityGroupSecurityRulesDetails: details };
      const removed = () => network.removeNetworkSecurityGroupSecurityRules(request);
      await write('network_security_group_rules.delete', removed, signal);
    },
  };
}

/** Makes the calls of the core API, which end with the caller's `signal`. */
export function coreApi(client: ApiClient, signal?: AbortSignal): CoreApi {
  const { network, read, write, list } = client;
  return {
    ...computeApi(client, signal),
    ...groupApi(client, signal),
    async vnic(vnicId) {
      const answer = await read('vnic.get', () => network.getVnic({ vnicId }), signal).catch(undefinedIfAbsent);
      return answer?.vnic as Vnic | undefined;
    },
    subnet: async (subnetId) => (await read('subnet.get', () => network.getSubnet({ subnetId }), signal)).subnet as Subnet,
    async securityList(securityListId) {
      const { securityList, etag } = await read('security_list.get', () => network.getSecurityList({ securityListId }), signal);
      return securityListOf(securityList, etag);
    },
    async securityLists(compartmentId, vcnId) {
      const all = await list(
        'security_list.list',
        (page) => network.listSecurityLists({ compartmentId, vcnId, ...page }),
        signal,
      );
      return all.map((one) => securityListOf(one));
    },
    async writeSecurityList({ id, etag, ingressSecurityRules, egressSecurityRules }) {
      const rules = { ingressSecurityRules, egressSecurityRules } as models.UpdateSecurityListDetails;
      const request = { securityListId: id, updateSecurityListDetails: rules, ...(etag && { ifMatch: etag }) };
      const written = await write('security_list.update', () => network.updateSecurityList(request), signal);
      return securityListOf(written.securityList, written.etag);
    },
    async publicIp(ipAddress) {
      const getPublicIpByIpAddressDetails = { ipAddress };
      const asked = () => network.getPublicIpByIpAddress({ getPublicIpByIpAddressDetails });
      return (await read('public_reserved_ip.get', asked, signal)).publicIp as PublicIp;
    },
  };
}
