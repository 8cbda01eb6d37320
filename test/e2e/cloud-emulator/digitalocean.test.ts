// `sagong up --cloud-provider-emulator digitalocean`: the provider for DigitalOcean on its emulated API, with real instances and load balancers.
// It takes two minutes, and runs with SAGONG_EMULATORS=all or digitalocean; test/component/emulators tries the same without nodes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAll } from '#cloud/client';
import { CloudWorld, patienceMs, podOf, reachable } from '../cloud/world.ts';
import { eventually } from '../cluster/harness.ts';

const annotation = (name: string): string => `service.beta.kubernetes.io/do-loadbalancer-${name}`;
const isAsked = ['all', 'digitalocean'].some((one) => (process.env['SAGONG_EMULATORS'] ?? '').split(',').includes(one));
let world: CloudWorld;

beforeAll(async () => {
  if (isAsked) world = await CloudWorld.create(2, '--cloud-provider-emulator', 'digitalocean');
});
afterAll(async () => {
  await world?.destroy();
});

const addressOf = (name: string): Promise<string> =>
  eventually(
    `the address of ${name}`,
    async () => (await world.getService(name)).status?.loadBalancer?.ingress?.[0]?.ip,
    patienceMs,
  );
/** Asks the emulated API as any client of the vendor's does. */
async function ask(path: string): Promise<unknown> {
  const text = await readFile(join(world.cluster.dataDir, 'cloud', 'digitalocean', 'env'), 'utf8');
  const { DO_OVERRIDE_URL: url = '', DO_ACCESS_TOKEN: token } = Object.fromEntries(
    text.split('\n').map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  );
  return (await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })).json();
}

describe.skipIf(!isAsked)('a cluster on the emulated DigitalOcean', () => {
  it('has Nodes with what DigitalOcean knows of their droplets, and pods that reach each other', async () => {
    const instances = await listAll((page) => world.api.listInstances(page));
    expect(instances).toHaveLength(2);
    for (const { id, name, privateAddress, publicAddress } of instances) {
      const { spec, metadata, status } = (await world.node(name)) ?? {};
      expect(spec?.providerID).toBe(`digitalocean://${Number.parseInt(id.slice(2), 16)}`);
      expect(metadata?.labels).toMatchObject({
        'topology.kubernetes.io/region': 'local-1',
        'node.kubernetes.io/instance-type': 'local.small',
      });
      expect(status?.addresses).toEqual(
        expect.arrayContaining([
          { type: 'InternalIP', address: privateAddress },
          { type: 'ExternalIP', address: publicAddress },
        ]),
      );
      expect(spec?.taints ?? []).toEqual([]);
    }
  });

  it('gives a Service a network load balancer that answers whom the Service lets in', async () => {
    await world.apply(world.backends('DaemonSet', 'web'), world.service('web'));
    await world.kubectl('rollout', 'status', 'daemonset/web', '--timeout', '55s');
    const address = await addressOf('web');
    expect(podOf(await reachable(address, 80, 'web'))).toMatch(/^web-/);
    expect(await ask('v2/load_balancers')).toMatchObject({
      load_balancers: [{ ip: address, type: 'REGIONAL_NETWORK', status: 'active' }],
    });
    await world.podsReachPods('web');
    await world.letsIn('web', address);
  });

  it('gives a Service a regional load balancer by annotation', async () => {
    await world.apply(world.service('regional', { selector: { app: 'web' } }, { [annotation('type')]: 'REGIONAL' }));
    const address = await addressOf('regional');
    await reachable(address, 80, 'web');
    expect((await world.balancers()).find((balancer) => balancer.address === address)?.kind).toBe('proxy');
  });

  it('forgets a droplet that is destroyed, and leaves nothing of Services that are deleted', async () => {
    const [, second] = await listAll((page) => world.api.listInstances(page));
    await world.cluster.sagong('node', 'terminate', second?.name ?? '');
    await eventually('the Node is gone', async () => (await world.node(second?.name ?? '')) === undefined, 90_000);
    await reachable(await addressOf('web'), 80, 'web');
    await world.kubectl('delete', 'service', 'web', 'regional', '--timeout', '55s');
    expect(await world.balancers()).toEqual([]);
  });
});
