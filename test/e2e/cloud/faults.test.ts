// A cloud that fails, a cluster that is stopped, and the end of both: there is one load balancer for each Service, and in the end nothing.
import { access, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, run } from '../cluster/harness.ts';
import { CloudWorld, reachable } from './world.ts';

const app = 'who';
/** The service controller pauses from 5 s on, and longer each time. */
const recoveryMs = 100_000;
let world: CloudWorld;

beforeAll(async () => {
  world = await CloudWorld.create(2);
  await world.apply(world.backend('who-1', { app, node: 'node-1' }), world.backend('who-2', { app, node: 'node-2' }));
  await world.podsReady(app);
});
afterAll(async () => {
  await world?.destroy();
});

const services = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i + 1}`).map((name, i) =>
    world.service(name, { selector: { app }, ...(i % 2 === 1 && { externalTrafficPolicy: 'Local' }) }),
  );
const names = (made: { metadata?: unknown }[]): string[] => made.map(({ metadata }) => (metadata as { name: string }).name);
/** Each has one load balancer, complete, and answers. */
async function expectOneEach(which: readonly string[]): Promise<void> {
  for (const name of which) {
    const ip = await eventually(
      `the address of ${name}`,
      async () => (await world.getService(name)).status?.loadBalancer?.ingress?.[0]?.ip,
      recoveryMs,
    );
    await reachable(ip, 80, app);
    const balancer = await world.balancer(name);
    expect(balancer).toMatchObject({ address: ip, state: 'active' });
    expect(balancer.targets).toHaveLength(2);
  }
}

describe('a cloud that fails', () => {
  it('now and then, or refuses, or stops halfway: each Service has one load balancer in the end', async () => {
    const made = services('flaky', 6);
    await world.api.putFaults({ errorRate: 0.3, throttleRate: 0.2, partialFailureRate: 0.3, retryAfterSeconds: 1, seed: 3 });
    try {
      await world.apply(...made);
      await eventually(
        'failures told',
        async () =>
          (await world.kubectl('get', 'events')).includes('Error syncing load balancer: failed to ensure load balancer'),
        recoveryMs,
      );
      await eventually(
        'the first that made it',
        async () => {
          const all = await Promise.all(names(made).map((name) => world.getService(name)));
          return all.some(({ status }) => status?.loadBalancer?.ingress);
        },
        recoveryMs,
      );
    } finally {
      await world.api.deleteFaults({});
    }
    await expectOneEach(names(made));
    expect(await world.balancers()).toHaveLength(made.length);
    await world.kubectl('delete', 'service', ...names(made).slice(2), '--timeout', '50s');
    expect(await world.balancers()).toHaveLength(2);
  });

  it('is away for ten seconds: what was there goes on, what was asked for comes', async () => {
    const [lasting = ''] = names(services('flaky', 1));
    const ip = await world.ingress(lasting);
    const made = services('outage', 2);
    await world.api.putFaults({ outage: true });
    try {
      const end = performance.now() + 10_000;
      await world.apply(...made);
      await eventually('the outage told', async () => (await world.events('outage-1')).includes('SyncLoadBalancerFailed'));
      await eventually('ten seconds of traffic', async () => {
        await reachable(ip, 80, app);
        return performance.now() > end;
      });
    } finally {
      await world.api.deleteFaults({});
    }
    await expectOneEach([...names(made), lasting]);
    for (const name of ['node-1', 'node-2'])
      expect(
        (await world.node(name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status,
        `${name} is not judged by a cloud that does not answer`,
      ).toBe('True');
  });
});

describe('a cluster with load balancers', () => {
  it('that is stopped and started has them again, with the same addresses', async () => {
    const known = ['flaky-1', 'flaky-2', 'outage-1', 'outage-2'];
    const before = (await world.balancers()).map(({ id, address }) => `${id} ${address}`).sort();
    expect(before).toHaveLength(known.length);
    const stopped = await world.cluster.sagong('stop');
    expect(stopped.code, stopped.stderr).toBe(0);
    await world.cluster.up();
    await world.openApi();
    await expectOneEach(known);
    expect((await world.balancers()).map(({ id, address }) => `${id} ${address}`).sort()).toEqual(before);
  });

  it('that is removed leaves nothing on the machine', async () => {
    const { mark, dataDir } = world.cluster;
    const { publicCidr } = JSON.parse(await readFile(`${dataDir}/cloud/cloud.json`, 'utf8')) as { publicCidr: string };
    const onMachine = async (): Promise<string[]> => {
      const shown = await Promise.all([
        run('ip', ['netns', 'list']),
        run('ip', ['-br', 'link']),
        run('ip', ['-4', 'route', 'show', 'table', 'all']),
        run('iptables-save', []),
        run('ps', ['-eo', 'pid,args', 'ww']),
        run('mount', []),
      ]);
      const signs = [mark, dataDir, publicCidr.replace('.0/24', '.')];
      return shown.flatMap(({ stdout }) => stdout.split('\n')).filter((line) => signs.some((sign) => line.includes(sign)));
    };
    const before = (await onMachine()).join('\n');
    for (const sign of ['haproxy', `sagong-${mark}-vpc-`, 'MASQUERADE', publicCidr]) expect(before).toContain(sign);
    const { code, stderr } = await world.cluster.sagong('down');
    expect(code, stderr).toBe(0);
    expect(await onMachine()).toEqual([]);
    await expect(access(dataDir)).rejects.toThrow('ENOENT');
  });
});
