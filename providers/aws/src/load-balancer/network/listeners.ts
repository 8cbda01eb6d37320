// Listeners of a network load balancer: one for each port of the Service, each in front of one target group.
import { during } from 'sagong/cloud-provider/kit';
import {
  type Certificate,
  CreateListenerCommand,
  DeleteListenerCommand,
  DescribeListenersCommand,
  type Listener,
  ModifyListenerCommand,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { pages } from '../../clients.ts';
import type { Cloud } from '../../cloud.ts';
import { absentFor } from '../../errors.ts';
import { pagesMax } from '../../limits.ts';
import { ownedTags } from '../../tags.ts';
import type { NetworkPlan, PortMapping } from './plan.ts';

const targetOf = ({ DefaultActions = [] }: Listener): string | undefined => DefaultActions[0]?.TargetGroupArn;

/** Whether a listener serves a port as wanted. A TLS policy that nobody asked for is AWS's choice. Pure. */
export function servesPort(listener: Listener, mapping: PortMapping, targetGroupArn: string): boolean {
  if (listener.Protocol !== mapping.protocol || targetOf(listener) !== targetGroupArn) return false;
  if (mapping.protocol !== 'TLS') return (listener.Certificates ?? []).length === 0;
  const policyFits = !mapping.tlsPolicy || listener.SslPolicy === mapping.tlsPolicy;
  return policyFits && listener.Certificates?.[0]?.CertificateArn === mapping.certificate;
}

export interface ListenerPlan {
  create: PortMapping[];
  /** `protocol`: only when it changes. */
  modify: { arn: string; mapping: PortMapping; protocol?: PortMapping['protocol'] }[];
  remove: string[];
}

/** `arns`: target groups by name. A change between UDP and the others is a new listener, for AWS changes none into that. Pure. */
export function listenerPlan(
  present: readonly Listener[],
  mappings: readonly PortMapping[],
  arns: ReadonlyMap<string, string>,
): ListenerPlan {
  const wanted = new Map(mappings.map((mapping) => [mapping.port, mapping]));
  const plan: ListenerPlan = { create: [], modify: [], remove: [] };
  for (const listener of present) {
    const { Port = 0, ListenerArn: arn = '', Protocol } = listener;
    const mapping = wanted.get(Port);
    if (!mapping || (Protocol === 'UDP') !== (mapping.protocol === 'UDP')) {
      plan.remove.push(arn);
      continue;
    }
    wanted.delete(Port);
    if (!servesPort(listener, mapping, arns.get(mapping.groupName) ?? ''))
      plan.modify.push({ arn, mapping, ...(Protocol !== mapping.protocol && { protocol: mapping.protocol }) });
  }
  plan.create.push(...wanted.values());
  return plan;
}

const tlsFields = ({ protocol, certificate, tlsPolicy }: PortMapping): { Certificates?: Certificate[]; SslPolicy?: string } =>
  protocol !== 'TLS' || certificate === undefined
    ? {}
    : { Certificates: [{ CertificateArn: certificate }], ...(tlsPolicy && { SslPolicy: tlsPolicy }) };

export const describeListeners = ({ api }: Cloud, LoadBalancerArn: string): Promise<Listener[]> =>
  pages(
    (Marker) => api.elbv2(new DescribeListenersCommand({ LoadBalancerArn, ...(Marker !== undefined && { Marker }) })),
    ({ Listeners }) => Listeners,
    ({ NextMarker }) => NextMarker,
    pagesMax,
  ).catch(during('error describing listeners'));

/** Makes the listeners what the Service asks for. Tells whether anything changed. */
export async function syncListeners(
  cloud: Cloud,
  LoadBalancerArn: string,
  { mappings, tags }: NetworkPlan,
  arns: ReadonlyMap<string, string>,
): Promise<boolean> {
  const { create, modify, remove } = listenerPlan(await describeListeners(cloud, LoadBalancerArn), mappings, arns);
  const common = (mapping: PortMapping) => ({
    DefaultActions: [{ Type: 'forward' as const, TargetGroupArn: arns.get(mapping.groupName) }],
    ...tlsFields(mapping),
  });
  for (const ListenerArn of remove)
    await cloud.api
      .elbv2(new DeleteListenerCommand({ ListenerArn }))
      .catch(absentFor('ListenerNotFound', 'ListenerNotFoundException'))
      .catch(during('error deleting load balancer listener'));
  for (const { arn, mapping, protocol } of modify)
    await cloud.api
      .elbv2(new ModifyListenerCommand({ ListenerArn: arn, ...(protocol && { Protocol: protocol }), ...common(mapping) }))
      .catch(during('error updating load balancer listener'));
  for (const mapping of create)
    await cloud.api
      .elbv2(
        new CreateListenerCommand({
          LoadBalancerArn,
          Port: mapping.port,
          Protocol: mapping.protocol,
          ...common(mapping),
          Tags: ownedTags(cloud.identity.cluster, tags),
        }),
      )
      .catch(during('error creating load balancer listener'));
  return create.length + modify.length + remove.length > 0;
}
