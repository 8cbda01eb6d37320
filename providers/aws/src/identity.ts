// Where the cluster lives: region, network, and the name in its tags. From the configuration alone when that is complete, else from the instance
// this process runs on (cloud-provider-aws newAWSCloud).
import { during } from 'sagong/cloud-provider/kit';
import { DescribeInstancesCommand } from '@aws-sdk/client-ec2';
import type { Api } from './clients.ts';
import { regionOfZone } from './config/config.ts';
import type { AwsConfig } from './config/schema.ts';
import type { InstanceMetadataService } from './metadata.ts';
import { type ClusterTags, clusterNamed, clusterOfTags } from './tags.ts';

export interface Identity {
  region: string;
  vpcId: string;
  /** For load balancers when no subnet of the network is tagged. */
  subnetId?: string;
  cluster: ClusterTags;
}

export async function regionOf({ Global }: AwsConfig, metadata: InstanceMetadataService): Promise<string> {
  if (Global.Zone !== undefined) return regionOfZone(Global.Zone);
  return Global.Region ?? metadata.region();
}

/** The part of an identity that needs no questions; undefined where the own instance has to be asked. */
export function configuredIdentity({ Global }: AwsConfig, region: string): Identity | undefined {
  const { VPC, SubnetID, RoleARN, KubernetesClusterTag, KubernetesClusterID } = Global;
  const elsewhere = VPC !== undefined && (SubnetID !== undefined || RoleARN !== undefined);
  if (!elsewhere || !(KubernetesClusterTag || KubernetesClusterID)) return undefined;
  return {
    region,
    vpcId: VPC,
    ...(SubnetID !== undefined && { subnetId: SubnetID }),
    cluster: clusterNamed(KubernetesClusterTag, KubernetesClusterID),
  };
}

export async function identityOf(
  config: AwsConfig,
  region: string,
  metadata: InstanceMetadataService,
  api: Api,
): Promise<Identity> {
  const configured = configuredIdentity(config, region);
  if (configured) return configured;
  const instanceId = await metadata.instanceId();
  const { Reservations = [] } = await api
    .ec2(new DescribeInstancesCommand({ InstanceIds: [instanceId] }))
    .catch(during(`error finding instance ${instanceId}`));
  const self = Reservations.flatMap(({ Instances = [] }) => Instances)[0];
  if (!self?.VpcId) throw new Error(`error finding instance ${instanceId}: it is in no VPC`);
  const { KubernetesClusterTag, KubernetesClusterID } = config.Global;
  return {
    region,
    vpcId: self.VpcId,
    ...(self.SubnetId !== undefined && { subnetId: self.SubnetId }),
    cluster:
      KubernetesClusterTag || KubernetesClusterID
        ? clusterNamed(KubernetesClusterTag, KubernetesClusterID)
        : clusterOfTags(self.Tags),
  };
}
