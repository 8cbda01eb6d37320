// A network load balancer as AWS shows it.
import { DescribeLoadBalancersCommand, type LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { LoadBalancerStatus } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import type { Cloud } from '../../cloud.ts';
import { absentFor } from '../../errors.ts';

/** Throws when the name is taken by another kind. */
export async function describeNetwork({ api }: Cloud, name: string): Promise<LoadBalancer | undefined> {
  const found = await api
    .elbv2(new DescribeLoadBalancersCommand({ Names: [name] }))
    .catch(absentFor('LoadBalancerNotFound', 'LoadBalancerNotFoundException'))
    .catch(during('error describing load balancer'));
  if (found && !found.LoadBalancers) throw new Error(`the answer does not say whether there is a load balancer ${name}`);
  if (!found?.LoadBalancers?.length) return undefined;
  const network = found.LoadBalancers.find(({ Type }) => Type === 'network');
  if (!network) throw new Error(`NLB '${name}' could not be found`);
  return network;
}

/** Throws for one that AWS could not set up. */
export function refuseFailed({ State, LoadBalancerName: name = '' }: LoadBalancer): void {
  if (State?.Code === 'failed') throw new Error(`load balancer ${name} has failed: ${State.Reason ?? 'AWS does not say why'}`);
}

/** No address of one that failed. One that is impaired carries traffic all the same. */
export const networkStatus = ({ DNSName, State }: LoadBalancer): LoadBalancerStatus =>
  DNSName && State?.Code && State.Code !== 'failed' ? { ingress: [{ hostname: DNSName }] } : {};
