// How the machines of a control plane are, as the cloud and its load balancer see them: for `sagong status`.
import type { ControlPlaneMachines } from './machines.ts';

export interface ControlPlaneState {
  name: string;
  zone: string;
  /** The state of the instance; `none` where there is no instance. */
  state: string;
  address: string;
  /** The state of its apiserver, as the load balancer sees it. */
  api: string;
}

export async function controlPlaneStates(machines: ControlPlaneMachines): Promise<ControlPlaneState[]> {
  const [instances, { targets }] = await Promise.all([machines.list(), machines.balancer()]);
  return machines.members.map(({ name, address }) => {
    const instance = instances.find((one) => one.name === name);
    const health = targets.find(({ instanceId }) => instanceId === instance?.id)?.health;
    return { name, zone: instance?.zone ?? '', state: instance?.state ?? 'none', address, api: health ?? 'unused' };
  });
}
