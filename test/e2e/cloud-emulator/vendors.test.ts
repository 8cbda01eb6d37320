// `sagong up --cloud-provider-emulator <vendor>`: a vendor's provider on its emulated API, with real instances, routes and load balancers. A vendor takes a minute:
// SAGONG_EMULATORS=all runs them, and SAGONG_EMULATORS=linode,gcp some; test/component/emulators tries the same without nodes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Instance } from '#cloud';
import { listAll } from '#cloud/client';
import { CloudWorld, patienceMs, reachable } from '../cloud/world.ts';
import { eventually } from '../cluster/harness.ts';

interface Vendor {
  vendor: string;
  providerId(instance: Instance): string;
  /** Labels of the Node. */
  region: string;
  zone?(instance: Instance): string;
  /** More of `up`. */
  flags?: readonly string[];
  /** Default: that of the instance. */
  type?: string;
}

const vendors: Vendor[] = [
  {
    vendor: 'linode',
    providerId: ({ id }) => `linode://${Number.parseInt(id.slice(2), 16)}`,
    region: 'local-1',
    flags: ['--topology', 'managed'],
  },
  {
    vendor: 'gcp',
    providerId: ({ name, zone }) => `gce://local-cloud/${zone.replace('local-1', 'local-1-')}/${name}`,
    region: 'local-1',
    zone: ({ zone }) => zone.replace('local-1', 'local-1-'),
  },
  {
    vendor: 'oci',
    providerId: ({ id }) => `oci://ocid1.instance.oc1.local.${id.slice(2)}`,
    region: 'local-1',
    zone: ({ zone }) => zone,
  },
  {
    vendor: 'baidu',
    providerId: ({ id }) => `cce://${id}`,
    region: 'local-1',
    type: 'BCC',
    zone: ({ zone }) => zone,
  },
  {
    vendor: 'azure',
    // The subscription is of this cluster alone.
    providerId: ({ name }) =>
      expect.stringMatching(
        `^azure:///subscriptions/[0-9a-f-]{36}/resourceGroups/local-cloud/providers/Microsoft.Compute/virtualMachines/${name}$`,
      ) as string,
    region: 'local-1',
    zone: ({ zone }) => `local-1-${(zone.at(-1)?.charCodeAt(0) ?? 97) - 96}`,
  },
];

const asked = process.env['SAGONG_EMULATORS'] ?? '';
const isAsked = ({ vendor }: Vendor): boolean => asked === 'all' || asked.split(',').includes(vendor);

describe.each(vendors)(
  'a cluster on the emulated $vendor',
  ({ vendor, providerId, region, zone, type = 'local.small', flags = [] }) => {
    const runs = isAsked({ vendor, providerId, region });
    let world: CloudWorld;
    beforeAll(async () => {
      if (runs) world = await CloudWorld.create(2, '--cloud-provider-emulator', vendor, ...flags);
    });
    afterAll(async () => {
      await world?.destroy();
    });
    /** The address that its Service shows, once somebody answers there. */
    const serving = async (name: string): Promise<string> => {
      const address = await world.ingress(name);
      await reachable(address, 80, 'web');
      return address;
    };
    const identities = async () => (await world.balancers()).map(({ id, address }) => `${id} ${address}`).sort();

    it.runIf(runs)('has Nodes with what the vendor knows of their instances', async () => {
      const instances = await listAll((page) => world.api.listInstances(page));
      expect(instances).toHaveLength(2);
      for (const instance of instances) {
        const { spec, metadata, status } = (await world.node(instance.name)) ?? {};
        expect(spec?.providerID).toEqual(providerId(instance));
        expect(metadata?.labels).toMatchObject({
          'topology.kubernetes.io/region': region,
          'node.kubernetes.io/instance-type': type,
          ...(zone && { 'topology.kubernetes.io/zone': zone(instance) }),
        });
        expect(status?.addresses).toContainEqual({ type: 'InternalIP', address: instance.privateAddress });
        expect(spec?.taints ?? []).toEqual([]);
      }
    });

    it.runIf(runs)('gives a Service a load balancer that answers whom the Service lets in, and pods routes', async () => {
      await world.apply(world.backends('DaemonSet', 'web'), world.service('web'));
      await world.kubectl('rollout', 'status', 'daemonset/web', '--timeout', '55s');
      const address = await serving('web');
      await world.podsReachPods('web');
      await world.letsIn('web', address);
    });

    it.runIf(runs)('finds the same after kill -9', async () => {
      const before = await identities();
      process.kill(await world.cluster.pid(), 'SIGKILL');
      await world.cluster.up();
      await world.openApi();
      await serving('web');
      expect(await identities()).toEqual(before);
      await world.apply(world.service('second', { selector: { app: 'web' } }));
      await serving('second');
      expect(await identities()).toEqual(expect.arrayContaining(before));
    });

    it.runIf(runs)('leaves nothing of machines and Services that are gone', async () => {
      const [, second] = await listAll((page) => world.api.listInstances(page));
      const name = second?.name ?? '';
      await world.cluster.sagong('node', 'terminate', name);
      await eventually('the Node is gone', async () => (await world.node(name)) === undefined, 90_000);
      await serving('web');
      await world.kubectl('delete', 'service', 'web', 'second', '--timeout', '55s');
      expect(await world.balancers()).toEqual([]);
      await eventually('one spare address', async () => (await world.api.listAddresses({})).items.length <= 1, patienceMs);
    });

    it.runIf(runs)('leaves nothing on the machine after sagong down, Services or not', async () => {
      await world.apply(world.service('last', { selector: { app: 'web' } }));
      await serving('last');
      expect(await world.traces()).not.toEqual([]);
      expect((await world.cluster.sagong('down')).code).toBe(0);
      expect(await world.traces()).toEqual([]);
    });
  },
);
