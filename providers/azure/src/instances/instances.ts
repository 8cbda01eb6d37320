// Nodes and their machines.
import { type Clock, instanceNotFound, type InstancesV2, type Node } from 'sagong/cloud-provider';
import type { Arm } from '../api/arm.ts';
import type { Settings } from '../settings.ts';
import { nodeAddresses } from './addresses.ts';
import { type Finder, isUnmanaged } from './finder.ts';
import { isOff } from './machine.ts';
import { formatProviderId } from './provider-id.ts';

export interface InstancesDeps {
  arm: Arm;
  finder: Finder;
  settings: Settings;
  clock: Pick<Clock, 'now'>;
}

export function createInstances({ arm, finder, settings: { graceMs }, clock }: InstancesDeps): InstancesV2 {
  /** Azure may show a machine later than its kubelet registers. */
  const isNew = ({ metadata }: Node): boolean =>
    graceMs > 0 && clock.now() - Date.parse(metadata.creationTimestamp ?? '') < graceMs;
  return {
    instanceExists: async (node, signal) => isUnmanaged(node) || (await finder.ofNode(node, signal)) !== undefined || isNew(node),
    async instanceShutdown(node, signal) {
      const machine = isUnmanaged(node) ? undefined : await finder.ofNode(node, signal);
      return machine !== undefined && isOff(machine);
    },
    async instanceMetadata(node, signal) {
      const { spec, metadata } = node;
      // It is initialised with what its kubelet says.
      if (isUnmanaged(node)) return { ...(spec?.providerID && { providerId: spec.providerID }), nodeAddresses: [] };
      const machine = await finder.ofNode(node, signal);
      if (!machine) throw instanceNotFound();
      return {
        providerId: spec?.providerID || formatProviderId(machine.id),
        instanceType: machine.size,
        nodeAddresses: await nodeAddresses(arm, machine, metadata.name ?? '', signal),
        zone: machine.zone,
        region: machine.region,
      };
    },
  };
}
