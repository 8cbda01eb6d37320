// Names of what is made in AWS: the same as those of cloud-provider-aws, so that a cluster can change hands. Pure.
import { createHash } from 'node:crypto';
import type { Service } from 'sagong/cloud-provider';

export { defaultLoadBalancerName as loadBalancerName } from 'sagong/cloud-provider';

/** The name of the policy of classic load balancers that adds the PROXY protocol. */
export const proxyProtocolPolicy = 'k8s-proxyprotocol-enabled';
export const tlsPolicy = (name: string): string => `k8s-SSLNegotiationPolicy-${name}`;

/** The name of the security group of a classic load balancer. */
export const classicGroupName = (loadBalancer: string): string => `k8s-elb-${loadBalancer}`;

const alphanumeric = (text: string | undefined): string => (text ?? '').replace(/[^a-zA-Z0-9]/g, '').slice(0, 8);
const hex = (algorithm: 'sha1' | 'sha256', ...parts: (string | number | undefined)[]): string =>
  createHash(algorithm).update(parts.map(String).join('')).digest('hex').slice(0, 10);

/** `k8s-<namespace>-<name>-`: what the names of a Service's target groups begin with. */
export const targetGroupPrefix = ({ metadata }: Service): string =>
  `k8s-${alphanumeric(metadata.namespace)}-${alphanumeric(metadata.name)}-`;

/** What cannot be changed in a target group is in its name, so that another one is made instead. */
export interface TargetGroupIdentity {
  port: number;
  nodePort: number;
  protocol: string;
  healthProtocol: string;
  healthIntervalSeconds: number;
}

export const targetGroupName = (clusterId: string, service: Service, group: TargetGroupIdentity): string =>
  targetGroupPrefix(service) +
  hex(
    'sha1',
    clusterId,
    service.metadata.namespace ?? '',
    service.metadata.name ?? '',
    group.port,
    group.nodePort,
    group.protocol,
    'instance',
    group.healthProtocol,
    group.healthIntervalSeconds,
  );

/** Security group in front of a network load balancer. `cluster` is `--cluster-name`. */
export const networkGroupName = (cluster: string, service: Service): string =>
  targetGroupPrefix(service) +
  hex('sha256', cluster, service.metadata.name ?? '', service.metadata.namespace ?? '', service.metadata.uid ?? '');

/** Descriptions by which rules in the nodes' security groups are known again. */
export const ruleDescriptions = (loadBalancer: string) => ({
  client: `kubernetes.io/rule/nlb/client=${loadBalancer}`,
  health: `kubernetes.io/rule/nlb/health=${loadBalancer}`,
});
export const clientRulePrefix = 'kubernetes.io/rule/nlb/client';
/** Path MTU discovery serves all load balancers with clients of that range. */
export const mtuRuleDescription = 'kubernetes.io/rule/nlb/mtu';
