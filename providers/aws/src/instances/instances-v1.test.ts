import { describe, expect, it } from 'vitest';
import { type InstancesV2, isNotImplemented, type Node } from 'sagong/cloud-provider';
import { olderInterfaces } from './instances-v1.ts';

describe('the older interfaces', () => {
  const asked: Node[] = [];
  const v2: InstancesV2 = {
    instanceExists: () => Promise.resolve(true),
    instanceShutdown: () => Promise.resolve(false),
    instanceMetadata(node) {
      asked.push(node);
      const nodeAddresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
      const providerId = 'aws:///us-east-1a/i-0123';
      return Promise.resolve({ providerId, instanceType: 'm5.large', nodeAddresses, zone: 'us-east-1a', region: 'us-east-1' });
    },
  };
  const { instances, zones } = olderInterfaces(v2);
  const id = 'aws:///us-east-1a/i-0123';

  it('say the same as the newer one', async () => {
    expect(await instances.nodeAddresses('n')).toEqual([{ type: 'InternalIP', address: '10.0.0.1' }]);
    expect(await instances.nodeAddressesByProviderId(id)).toEqual(await instances.nodeAddresses('n'));
    expect(`aws://${await instances.instanceId('n')}`).toBe(id);
    expect([await instances.instanceType('n'), await instances.instanceTypeByProviderId(id)]).toEqual(['m5.large', 'm5.large']);
    expect([await instances.instanceExistsByProviderId(id), await instances.instanceShutdownByProviderId(id)]).toEqual([
      true,
      false,
    ]);
    expect(await zones.getZoneByNodeName('n')).toEqual({ failureDomain: 'us-east-1a', region: 'us-east-1' });
    expect(await zones.getZoneByProviderId(id)).toEqual(await zones.getZoneByNodeName('n'));
    expect(asked.at(-2)?.spec?.providerID).toBe(id);
    expect(asked.at(-1)?.metadata.name).toBe('n');
  });
  it('know nothing of the machine the manager runs on', async () => {
    await expect(zones.getZone()).rejects.toSatisfy(isNotImplemented);
    await expect(instances.currentNodeName('n')).rejects.toSatisfy(isNotImplemented);
  });
});
