import { describe, expect, it } from 'vitest';
import { type CloudProvider, type Instances, notImplemented } from '#cloud-provider';
import { FakeCloud, fakeProvider } from '#cloud-provider/fake';
import type { Clock } from '#utils';
import { instanceSourceOf } from './instance-source.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };

/** The older interface, with the names of the calls it gets. */
function older(instead: Partial<Instances> = {}): { cloud: CloudProvider; calls: string[] } {
  const calls: string[] = [];
  const cloud = new FakeCloud({ clock });
  cloud.addInstance('n');
  const provider = fakeProvider(cloud, { instances: 'v1' });
  const instances = { ...(provider.instances as Instances), ...instead };
  const noted = Object.fromEntries(
    Object.entries(instances).map(([name, call]) => [
      name,
      (...args: never[]) => {
        calls.push(name);
        return (call as (...given: never[]) => unknown)(...args);
      },
    ]),
  );
  return { cloud: { ...provider, instances: noted as unknown as Instances }, calls };
}

describe('addresses over the older interface', () => {
  const node = { metadata: { name: 'n' }, spec: { providerID: 'fake://i-000001' } };
  it('are asked for alone', async () => {
    const { cloud, calls } = older();
    const source = instanceSourceOf(cloud, 'fake');
    expect(await source?.nodeAddresses(node)).toEqual((await source?.instanceMetadata(node))?.nodeAddresses);
    expect(calls[0]).toBe('nodeAddressesByProviderId');
    expect(calls.filter((call) => call.startsWith('instanceType'))).toHaveLength(1);
  });
  it('are found by name where there are no IDs', async () => {
    const { cloud, calls } = older({ instanceId: () => Promise.reject(notImplemented()) });
    expect((await instanceSourceOf(cloud, 'fake')?.nodeAddresses({ metadata: { name: 'n' } }))?.length).toBeGreaterThan(0);
    expect(calls).toEqual(['instanceId', 'nodeAddressesByProviderId', 'nodeAddresses']);
  });
});
