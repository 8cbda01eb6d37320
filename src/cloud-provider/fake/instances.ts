// Instances and zones of the fake cloud, through both interfaces.
import type { Node } from '#api/core/v1';
import { instanceNotFound, notImplemented } from '../errors.ts';
import { instanceIdOf, providerIdOf } from '../helpers.ts';
import type { Instances, InstancesV2, Zone, Zones } from '../types.ts';
import type { FakeCloud, FakeInstance } from './cloud.ts';

const seen = (cloud: FakeCloud, instance: FakeInstance | undefined): FakeInstance | undefined =>
  instance && cloud.gate.visible(instance.createdMs) ? instance : undefined;

export function fakeInstancesV2(cloud: FakeCloud, provider: string): InstancesV2 {
  const find = ({ metadata, spec }: Node): FakeInstance | undefined => {
    const id = instanceIdOf(provider, spec?.providerID);
    return seen(cloud, id === undefined ? cloud.instanceOf(metadata.name ?? '') : cloud.instances.get(id));
  };
  const enter = (operation: string, { metadata }: Node, signal?: AbortSignal) =>
    cloud.gate.enter(operation, metadata.name ?? '', signal);
  return {
    async instanceExists(node, signal) {
      await enter('instanceExists', node, signal);
      return find(node) !== undefined;
    },
    async instanceShutdown(node, signal) {
      await enter('instanceShutdown', node, signal);
      const instance = find(node);
      if (!instance) throw instanceNotFound();
      return instance.state === 'stopped';
    },
    async instanceMetadata(node, signal) {
      await enter('instanceMetadata', node, signal);
      const instance = find(node);
      if (!instance) throw instanceNotFound();
      return {
        providerId: providerIdOf(provider, instance.id),
        instanceType: instance.type,
        nodeAddresses: instance.addresses.map((address) => ({ ...address })),
        zone: instance.zone,
        region: instance.region,
        additionalLabels: { ...instance.labels },
      };
    },
  };
}

interface Lookup {
  byName(operation: string, name: string): Promise<FakeInstance>;
  byId(operation: string, providerId: string): Promise<FakeInstance>;
}

function lookup(cloud: FakeCloud, provider: string): Lookup {
  const found = (instance: FakeInstance | undefined): FakeInstance => {
    const visible = seen(cloud, instance);
    if (!visible) throw instanceNotFound();
    return visible;
  };
  return {
    async byName(operation, name) {
      await cloud.gate.enter(operation, name);
      return found(cloud.instanceOf(name));
    },
    async byId(operation, providerId) {
      await cloud.gate.enter(operation, providerId);
      return found(cloud.instances.get(instanceIdOf(provider, providerId) ?? ''));
    },
  };
}

export function fakeInstances(cloud: FakeCloud, provider: string): Instances {
  const { byName, byId } = lookup(cloud, provider);
  return {
    nodeAddresses: async (name) => [...(await byName('nodeAddresses', name)).addresses],
    nodeAddressesByProviderId: async (id) => [...(await byId('nodeAddressesByProviderId', id)).addresses],
    instanceId: async (name) => (await byName('instanceId', name)).id,
    instanceType: async (name) => (await byName('instanceType', name)).type,
    instanceTypeByProviderId: async (id) => (await byId('instanceTypeByProviderId', id)).type,
    addSshKeyToAllInstances: () => Promise.reject(notImplemented()),
    currentNodeName: (hostname) => Promise.resolve(hostname),
    async instanceExistsByProviderId(id) {
      await cloud.gate.enter('instanceExistsByProviderId', id);
      return seen(cloud, cloud.instances.get(instanceIdOf(provider, id) ?? '')) !== undefined;
    },
    instanceShutdownByProviderId: async (id) => (await byId('instanceShutdownByProviderId', id)).state === 'stopped',
  };
}

export function fakeZones(cloud: FakeCloud, provider: string): Zones {
  const { byName, byId } = lookup(cloud, provider);
  const zoneOf = ({ zone, region }: FakeInstance): Zone => ({ failureDomain: zone, region });
  return {
    getZone: () => Promise.resolve({ failureDomain: cloud.zones[0] ?? '', region: cloud.region }),
    getZoneByProviderId: async (id) => zoneOf(await byId('getZoneByProviderId', id)),
    getZoneByNodeName: async (name) => zoneOf(await byName('getZoneByNodeName', name)),
  };
}
