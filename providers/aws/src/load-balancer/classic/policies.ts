// Policies of classic load balancers: the PROXY protocol towards backends, and which TLS ciphers listeners speak.
import { during } from 'sagong/cloud-provider/kit';
import {
  type BackendServerDescription,
  CreateLoadBalancerPolicyCommand,
  DescribeLoadBalancerPoliciesCommand,
  type LoadBalancerDescription,
  SetLoadBalancerPoliciesForBackendServerCommand,
  SetLoadBalancerPoliciesOfListenerCommand,
} from '@aws-sdk/client-elastic-load-balancing';
import type { Cloud } from '../../cloud.ts';
import { absentFor } from '../../errors.ts';
import { proxyProtocolPolicy, tlsPolicy } from '../../naming.ts';
import { portsWithoutPolicy } from './listeners.ts';

interface Policy {
  name: string;
  type: string;
  attribute: [name: string, value: string];
}

async function ensurePolicy({ api }: Cloud, LoadBalancerName: string, { name, type, attribute }: Policy): Promise<void> {
  const found = await api
    .elb(new DescribeLoadBalancerPoliciesCommand({ LoadBalancerName, PolicyNames: [name] }))
    .catch(absentFor('PolicyNotFound', 'PolicyNotFoundException'))
    .catch(during('error describing policies on load balancer'));
  if (found?.PolicyDescriptions?.length) return;
  const [AttributeName, AttributeValue] = attribute;
  await api
    .elb(
      new CreateLoadBalancerPolicyCommand({
        LoadBalancerName,
        PolicyName: name,
        PolicyTypeName: type,
        PolicyAttributes: [{ AttributeName, AttributeValue }],
      }),
    )
    .catch(absentFor('DuplicatePolicyName', 'DuplicatePolicyNameException'))
    .catch(during(`error creating policy ${name} on load balancer`));
}

/** Backend ports at which the PROXY protocol has to be switched, and to what. Pure. */
export function proxyChanges(
  ports: readonly number[],
  backends: readonly BackendServerDescription[] = [],
  enabled: boolean,
): Map<number, boolean> {
  const now = new Map(
    backends.map(({ InstancePort = 0, PolicyNames = [] }) => [InstancePort, PolicyNames.includes(proxyProtocolPolicy)]),
  );
  // A port that is no longer used keeps its policy until it is told otherwise.
  const wanted = new Map([...now.keys()].map((port) => [port, false]));
  for (const port of ports) wanted.set(port, enabled);
  return new Map([...wanted].filter(([port, on]) => (now.get(port) ?? false) !== on));
}

/** Makes the policies for the PROXY protocol what the Service asks for. Tells whether anything changed. */
export async function syncProxyProtocol(
  cloud: Cloud,
  name: string,
  ports: readonly number[],
  backends: readonly BackendServerDescription[] | undefined,
  enabled: boolean,
): Promise<boolean> {
  const changes = proxyChanges(ports, backends, enabled);
  if ([...changes.values()].some((on) => on))
    await ensurePolicy(cloud, name, {
      name: proxyProtocolPolicy,
      type: 'ProxyProtocolPolicyType',
      attribute: ['ProxyProtocol', 'true'],
    });
  for (const [InstancePort, on] of changes)
    await cloud.api
      .elb(
        new SetLoadBalancerPoliciesForBackendServerCommand({
          LoadBalancerName: name,
          InstancePort,
          PolicyNames: on ? [proxyProtocolPolicy] : [],
        }),
      )
      .catch(during('error adjusting AWS loadbalancer backend policies'));
  return changes.size > 0;
}

/** Makes a load balancer use `policy`, which is one of AWS's predefined TLS policies. */
export async function syncTlsPolicy(cloud: Cloud, loadBalancer: LoadBalancerDescription, policy: string): Promise<void> {
  const name = loadBalancer.LoadBalancerName ?? '';
  const ports = portsWithoutPolicy(loadBalancer.ListenerDescriptions, tlsPolicy(policy));
  if (ports.length === 0) return;
  await ensurePolicy(cloud, name, {
    name: tlsPolicy(policy),
    type: 'SSLNegotiationPolicyType',
    attribute: ['Reference-Security-Policy', policy],
  });
  for (const LoadBalancerPort of ports)
    await cloud.api
      .elb(
        new SetLoadBalancerPoliciesOfListenerCommand({
          LoadBalancerName: name,
          LoadBalancerPort,
          PolicyNames: [tlsPolicy(policy)],
        }),
      )
      .catch(during(`error setting SSL negotiation policy '${tlsPolicy(policy)}' on load balancer`));
}
