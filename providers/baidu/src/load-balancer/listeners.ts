// Brings the listeners of a load balancer in line: one for each port, written only where it differs.
import { differenceOf } from 'sagong/cloud-provider/kit';
import { isThere } from '../api/errors.ts';
import type { Listener, ListenerKind } from '../api/types.ts';
import type { Cloud } from '../cloud.ts';
import type { PortPlan } from './plan.ts';

const kinds: readonly ListenerKind[] = ['TCP', 'UDP'];

async function foundOf({ api }: Cloud, balancer: string): Promise<PortPlan[]> {
  const found: PortPlan[] = [];
  for (const kind of kinds) found.push(...(await api.listeners(balancer, kind)).map((listener) => ({ kind, listener })));
  return found;
}

const keyOf = ({ kind, listener }: PortPlan): string => `${kind} ${listener.listenerPort}`;
/** Whether all is as it is wanted; what else the API tells of it does not count. */
const agrees = (found: Listener, wanted: Listener): boolean =>
  Object.entries(wanted).every(([name, value]) => (found as unknown as Record<string, unknown>)[name] === value);

export async function ensureListeners(cloud: Cloud, balancer: string, ports: readonly PortPlan[]): Promise<void> {
  const { api } = cloud;
  const { missing, surplus, both } = differenceOf(await foundOf(cloud, balancer), ports, keyOf, keyOf);
  if (surplus.length > 0)
    await api.deleteListeners(
      balancer,
      surplus.map(({ kind, listener }) => ({ port: listener.listenerPort, type: kind })),
    );
  for (const { found, wanted } of both) {
    if (agrees(found.listener, wanted.listener)) continue;
    const { listenerPort, ...settings } = wanted.listener;
    await api.updateListener(balancer, wanted.kind, listenerPort, settings);
  }
  for (const wanted of missing)
    await api.createListener(balancer, wanted.kind, wanted.listener).catch(async (error: unknown) => {
      // A lost answer, or another manager: it may be there, as it is wanted.
      if (!isThere(error)) throw error;
      const there = (await foundOf(cloud, balancer)).find((one) => keyOf(one) === keyOf(wanted));
      if (!there || !agrees(there.listener, wanted.listener)) throw error;
    });
}

/** Removes all listeners of the kinds that a Service has. */
export async function removeListeners(cloud: Cloud, balancer: string): Promise<void> {
  const found = await foundOf(cloud, balancer);
  if (found.length === 0) return;
  await cloud.api.deleteListeners(
    balancer,
    found.map(({ kind, listener }) => ({ port: listener.listenerPort, type: kind })),
  );
}
