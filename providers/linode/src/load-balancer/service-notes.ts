// Warnings about annotations that were changed too late: a NodeBalancer keeps the address and the type that it was created with.
import type { NodeBalancer } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { BalancerPlan } from './plan.ts';

/** Writes events about what of a load balancer cannot be changed, with upstream's words where it has some. */
export async function warnOfFixed({ writer }: Cloud, plan: BalancerPlan, there: NodeBalancer): Promise<void> {
  const { service, reservedAddress, type, typeIsGiven } = plan;
  if (reservedAddress !== undefined && reservedAddress !== there.ipv4) {
    const message = `IPv4 annotation changed to ${reservedAddress}, but NodeBalancer (${there.id}) IP cannot be updated after creation. It will remain ${there.ipv4}`;
    await writer.event(service, 'Warning', 'NodeBalancerIPChangeIgnored', message);
  }
  if (typeIsGiven && there.type !== undefined && there.type !== type) {
    const message = `type annotation changed to ${type}, but the type of NodeBalancer (${there.id}) cannot be updated after creation. It will remain ${there.type}`;
    await writer.event(service, 'Warning', 'NodeBalancerTypeChangeIgnored', message);
  }
}
