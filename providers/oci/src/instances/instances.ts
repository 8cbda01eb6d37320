// Nodes and their instances.
import { instanceNotFound, type InstancesV2, type Node } from 'sagong/cloud-provider';
import type { ApiClient } from '../api/client.ts';
import { coreApi } from '../api/core.ts';
import type { Instance } from '../api/types.ts';
import type { Settings } from '../config/settings.ts';
import { compartmentAnnotation, faultDomainLabel, formatProviderId, ocidOf, zoneOf } from '../names.ts';
import { addressesOf } from './addresses.ts';
import { type Finder, isGone } from './finder.ts';

const shutDown = ['STOPPED', 'STOPPING'];

export interface InstancesDeps {
  client: ApiClient;
  finder: Finder;
  settings: Settings;
}

export function createInstances({ client, finder, settings }: InstancesDeps): InstancesV2 {
  /** «Not found» is also what the API says to those who may not see it: only a list without it proves that it is gone. */
  async function isListed(node: Node, signal?: AbortSignal): Promise<boolean> {
    const ocid = ocidOf(node.spec?.providerID);
    if (ocid === undefined) return false;
    const compartment = node.metadata.annotations?.[compartmentAnnotation] || settings.compartment;
    const found = (await coreApi(client, signal).instances(compartment)).find(({ id }) => id === ocid);
    return found !== undefined && !isGone(found);
  }
  async function instanceOf(node: Node, signal?: AbortSignal): Promise<Instance> {
    const instance = await finder.ofNode(node, signal);
    if (!instance || isGone(instance)) throw instanceNotFound();
    return instance;
  }
  return {
    async instanceExists(node, signal) {
      const instance = await finder.ofNode(node, signal);
      return instance ? !isGone(instance) : isListed(node, signal);
    },
    instanceShutdown: async (node, signal) => shutDown.includes((await instanceOf(node, signal)).lifecycleState),
    async instanceMetadata(node, signal) {
      const instance = await instanceOf(node, signal);
      const { id, shape, availabilityDomain, region, faultDomain } = instance;
      const nodeAddresses = addressesOf(instance, await finder.vnicsOf(instance, signal), node);
      return {
        providerId: formatProviderId(id),
        instanceType: shape,
        nodeAddresses,
        zone: zoneOf(availabilityDomain),
        region,
        ...(faultDomain && { additionalLabels: { [faultDomainLabel]: faultDomain } }),
      };
    },
  };
}
