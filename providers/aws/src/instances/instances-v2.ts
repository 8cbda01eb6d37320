// Machines by Node (k8s.io/cloud-provider InstancesV2 on cloud-provider-aws instances_v2.go).
import type { Instance } from '@aws-sdk/client-ec2';
import { instanceNotFound, type InstanceMetadata, type InstancesV2, type Node } from 'sagong/cloud-provider';
import type { Cloud } from '../cloud.ts';
import { interfaceAddresses, nodeAddresses } from './addresses.ts';
import { fargateInterface } from './fargate.ts';
import { instanceIdOfProviderId, isFargate, providerIdOf } from './provider-id.ts';
import { networkNodeLabel, type Topology } from './topology.ts';

export const zoneIdLabel = 'topology.k8s.aws/zone-id';

/** Terminated instances are shown for an hour; one without a state is no longer there. */
const exists = (instance: Instance | undefined): boolean => instance?.State !== undefined && instance.State.Name !== 'terminated';

const instanceOf = async (cloud: Cloud, { metadata, spec }: Node): Promise<Instance | undefined> =>
  spec?.providerID
    ? cloud.instances.byId(instanceIdOfProviderId(spec.providerID))
    : cloud.instances.byNodeName(metadata.name ?? '');

const fargateIdOf = ({ spec }: Node): string | undefined => {
  if (!spec?.providerID) return undefined;
  const id = instanceIdOfProviderId(spec.providerID);
  return isFargate(id) ? id : undefined;
};

async function zoneLabels(cloud: Cloud, zone: string, { metadata }: Node): Promise<Record<string, string>> {
  if (metadata.labels?.[zoneIdLabel] !== undefined) return {};
  const id = (await cloud.zones.of(zone))?.ZoneId;
  if (!id) throw new Error(`Could not get zone ID from zone name ${zone}`);
  return { [zoneIdLabel]: id };
}

async function fargateMetadata(cloud: Cloud, node: Node, id: string): Promise<InstanceMetadata> {
  const found = await fargateInterface(cloud.api, cloud.identity.vpcId, id);
  if (!found) throw instanceNotFound();
  const zone = found.AvailabilityZone ?? '';
  return {
    providerId: node.spec?.providerID ?? '',
    nodeAddresses: interfaceAddresses(found, cloud.config.Global.NodeIPFamilies),
    zone,
    region: cloud.identity.region,
    additionalLabels: await zoneLabels(cloud, zone, node),
  };
}

export function instancesV2(during: (signal?: AbortSignal) => Cloud, topology: Topology): InstancesV2 {
  async function metadataOf(cloud: Cloud, node: Node): Promise<InstanceMetadata> {
    const fargate = fargateIdOf(node);
    if (fargate !== undefined) return fargateMetadata(cloud, node, fargate);
    const instance = await instanceOf(cloud, node);
    if (!instance) throw instanceNotFound();
    const { InstanceId: id = '', InstanceType: type = '', Placement } = instance;
    const zone = Placement?.AvailabilityZone ?? '';
    const [zoneLabel, networkLabels] = await Promise.all([
      zoneLabels(cloud, zone, node),
      node.metadata.labels?.[networkNodeLabel(1)] === undefined ? topology.labelsOf({ id, type }) : {},
    ]);
    return {
      providerId: node.spec?.providerID || providerIdOf(zone, id),
      instanceType: type,
      nodeAddresses: nodeAddresses(instance, cloud.config.Global.NodeIPFamilies),
      zone,
      region: cloud.identity.region,
      additionalLabels: { ...zoneLabel, ...networkLabels },
    };
  }

  return {
    async instanceExists(node, signal) {
      const cloud = during(signal);
      const fargate = fargateIdOf(node);
      if (fargate !== undefined) return (await fargateInterface(cloud.api, cloud.identity.vpcId, fargate)) !== undefined;
      return exists(await instanceOf(cloud, node));
    },
    async instanceShutdown(node, signal) {
      const cloud = during(signal);
      if (fargateIdOf(node) !== undefined) return false;
      return (await instanceOf(cloud, node))?.State?.Name === 'stopped';
    },
    instanceMetadata: (node, signal) => metadataOf(during(signal), node),
  };
}
