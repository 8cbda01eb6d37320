// Everything a Service says about its network load balancer, in one value, before anything is asked or made. Pure.
import { type Service, sourceRangesOf } from 'sagong/cloud-provider';
import { serviceKey } from 'sagong/cloud-provider/kit';
import {
  annotation,
  type Annotations,
  annotationsOf,
  booleanIn,
  isInternal,
  isTlsPort,
  listIn,
  pairsIn,
} from '../../annotations.ts';
import type { GlobalConfig } from '../../config/schema.ts';
import { loadBalancerName, targetGroupName } from '../../naming.ts';
import { serviceTag } from '../../tags.ts';
import { type NetworkHealthCheck, networkHealthCheck } from './health-check.ts';

/** One port of the Service: a listener and the target group behind it. */
export interface PortMapping {
  port: number;
  protocol: 'TCP' | 'UDP' | 'TLS';
  nodePort: number;
  targetProtocol: 'TCP' | 'UDP' | 'TLS';
  certificate?: string;
  /** '' or absent: AWS chooses. */
  tlsPolicy?: string;
  /** Name of the target group. */
  groupName: string;
  health: NetworkHealthCheck;
}

export interface NetworkPlan {
  name: string;
  internal: boolean;
  mappings: PortMapping[];
  tags: Record<string, string>;
  userTags: Record<string, string>;
  attributes: Record<string, string>;
  /** Wanted attributes of every target group. */
  targetGroupAttributes: Record<string, string>;
  eips: string[] | undefined;
  privateAddresses: string[] | undefined;
  /** Security groups of the user. */
  givenGroups: string[];
  sourceRanges: string[];
}

export function portMappings(service: Service, config: GlobalConfig, clusterId: string): PortMapping[] {
  const annotations = annotationsOf(service);
  const health = networkHealthCheck(config, service);
  return (service.spec?.ports ?? []).flatMap(({ name = '', port, protocol = 'TCP', nodePort }): PortMapping[] => {
    if (!nodePort) return [];
    const plain = protocol === 'UDP' ? 'UDP' : 'TCP';
    const tls = plain !== 'UDP' && isTlsPort(annotations, { name, port });
    const targetProtocol = tls && annotations[annotation.backendProtocol] === 'ssl' ? 'TLS' : plain;
    const identity = { healthProtocol: health.protocol, healthIntervalSeconds: health.intervalSeconds };
    return [
      {
        port,
        protocol: tls ? 'TLS' : plain,
        nodePort,
        targetProtocol,
        ...(tls && { certificate: annotations[annotation.certificate], tlsPolicy: annotations[annotation.tlsPolicy] ?? '' }),
        groupName: targetGroupName(clusterId, service, { port, nodePort, protocol: targetProtocol, ...identity }),
        health,
      },
    ];
  });
}

/** Where logs go is only said while they are on: AWS takes no empty bucket. */
export function networkAttributes(annotations: Annotations): Record<string, string> {
  const logs = booleanIn(annotations, annotation.accessLogEnabled) ?? false;
  return {
    'load_balancing.cross_zone.enabled': String(booleanIn(annotations, annotation.crossZone) ?? false),
    'access_logs.s3.enabled': String(logs),
    ...(logs && {
      'access_logs.s3.bucket': annotations[annotation.accessLogBucket] ?? '',
      'access_logs.s3.prefix': annotations[annotation.accessLogPrefix] ?? '',
    }),
  };
}

/** Throws for annotations with unusable values. */
export function networkPlan(service: Service, config: GlobalConfig, clusterId: string): NetworkPlan {
  const annotations = annotationsOf(service);
  const userTags = pairsIn(annotations[annotation.tags]);
  const listed = (name: string): string[] | undefined =>
    annotations[name] === undefined ? undefined : listIn(annotations[name]);
  return {
    name: loadBalancerName(service),
    internal: isInternal(annotations),
    mappings: portMappings(service, config, clusterId),
    userTags,
    tags: { ...userTags, [serviceTag]: serviceKey(service) },
    attributes: networkAttributes(annotations),
    targetGroupAttributes: pairsIn(annotations[annotation.targetGroupAttributes]),
    eips: listed(annotation.eipAllocations),
    privateAddresses: listed(annotation.privateAddresses),
    givenGroups: listIn(annotations[annotation.securityGroups]),
    sourceRanges: sourceRangesOf(service),
  };
}

/** Subnets with the fixed addresses in them. Throws when there are not as many addresses as subnets. */
export function subnetMappings(
  subnets: readonly string[],
  { eips, privateAddresses }: Pick<NetworkPlan, 'eips' | 'privateAddresses'>,
) {
  const check = (what: string, given: readonly string[] | undefined): void => {
    if (given !== undefined && given.length !== subnets.length)
      throw new Error(
        `error creating load balancer: Must have same number of ${what} (${given.length}) and SubnetIDs (${subnets.length})`,
      );
  };
  check('EIP AllocationIDs', eips);
  check('Private IPv4Addresses', privateAddresses);
  return subnets.map((SubnetId, index) => ({
    SubnetId,
    ...(eips && { AllocationId: eips[index] }),
    ...(privateAddresses && { PrivateIPv4Address: privateAddresses[index] }),
  }));
}
