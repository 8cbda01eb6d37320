// No client is lost while pods come and go: upstream's e2e tests of UDP flows and of rolling updates (test/e2e/network/loadbalancer.go).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { ask, CloudWorld, patienceMs, reachable, type UdpClient } from './world.ts';

let world: CloudWorld;

beforeAll(async () => {
  world = await CloudWorld.create(2);
});
afterAll(async () => {
  await world?.destroy();
});

describe('UDP traffic of a client that keeps its port is preserved when the server pod cycles', () => {
  const ports = [{ name: 'udp', protocol: 'UDP', port: 80, targetPort: 8080 }];
  /** Goes on asking, as a client does that knows nothing of pods, until the pod answers. */
  const follows = (client: UdpClient, ip: string, pod: string): Promise<string> => client.reachable(ip, 80, pod);

  for (const [what, node] of [
    ['different nodes', 'node-2'],
    ['the same node', 'node-1'],
  ] as const)
    it.concurrent(`on ${what}`, async () => {
      const name = node === 'node-1' ? 'udp-same' : 'udp-other';
      const client = await world.udpClient();
      await world.apply(world.service(name, { ports }));
      const ip = await world.ingress(name);
      // Asked before there is anybody to answer: the way to nobody must not stick to the client's port.
      for (let i = 0; i < 3; i++) expect(await client.ask(ip, 80, 100)).toBe('nothing');
      await world.apply(world.backend(`${name}-1`, { app: name, node: 'node-1' }));
      await follows(client, ip, `${name}-1`);
      await world.apply(world.backend(`${name}-2`, { app: name, node }));
      await world.kubectl('delete', 'pod', `${name}-1`, '--grace-period', '1', '--wait=false');
      await follows(client, ip, `${name}-2`);
      await world.kubectl('delete', 'service,pod', '-l', `app=${name}`, '--wait=false');
      await world.kubectl('delete', 'service', name, '--wait=false');
    });
});

describe('rolling updates', () => {
  const app = 'rolling';
  const policies = ['Cluster', 'Local'] as const;
  const rollouts = 3;
  /** Longer than load balancers take to find a node's last pod terminating, also on a crowded machine: two probes, 2 s apart. */
  const delaySeconds = 10;
  const pauseMs = 20;

  /** Asks all the time until stopped; counts what it got. */
  function hammer(ip: string) {
    const counts = { asked: 0, failed: 0, reasons: new Map<string, number>() };
    let stopped = false;
    const one = async (): Promise<void> => {
      counts.asked++;
      const answer = await ask(ip, 80, 5_000);
      if (answer.startsWith(app)) return;
      counts.failed++;
      counts.reasons.set(answer, (counts.reasons.get(answer) ?? 0) + 1);
    };
    const pending = new Set<Promise<void>>();
    const timer = setInterval(() => {
      if (stopped || pending.size > 200) return;
      const work = one();
      pending.add(work);
      void work.then(() => pending.delete(work));
    }, pauseMs);
    return {
      /** What came since the last call. */
      take() {
        const { asked, failed } = counts;
        const text = [...counts.reasons].map(([reason, times]) => `${times} ${reason}`).join(', ');
        counts.asked = 0;
        counts.failed = 0;
        counts.reasons.clear();
        return { asked, failed, text };
      },
      async stop() {
        stopped = true;
        clearInterval(timer);
        await Promise.all(pending);
      },
    };
  }

  it.concurrent('disrupt no more than one connection in twenty, with Cluster and with Local traffic policy', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } };
    await world.apply(
      world.backends('DaemonSet', app, { updateStrategy }, { delaySeconds }),
      ...policies.map((externalTrafficPolicy) =>
        world.service(`rolling-${externalTrafficPolicy.toLowerCase()}`, { externalTrafficPolicy, selector: { app } }),
      ),
    );
    const ready = async (version: string): Promise<boolean> => {
      const { items } = await world.cluster.json<{
        items: {
          metadata: { deletionTimestamp?: string };
          spec: { containers: { env: { name: string; value: string }[] }[] };
          status: { conditions?: { type: string; status: string }[] };
        }[];
      }>('get', 'pods', '-l', `app=${app}`);
      const good = items.filter(
        ({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined &&
          (spec.containers[0]?.env.find(({ name }) => name === 'VERSION')?.value ?? '') === version &&
          status.conditions?.some(({ type, status: now }) => type === 'Ready' && now === 'True'),
      );
      return good.length === 2;
    };
    await eventually('pods on both nodes', () => ready(''), patienceMs);
    const hammers = await Promise.all(
      policies.map(async (policy) => {
        const ip = await world.ingress(`rolling-${policy.toLowerCase()}`);
        await reachable(ip, 80, app);
        return { policy, ip, hammer: hammer(ip) };
      }),
    );
    try {
      for (let round = 1; round <= rollouts; round++) {
        const containers = [{ name: 'backend', env: [{ name: 'VERSION', value: String(round) }] }];
        const change = { spec: { template: { spec: { containers } } } };
        await world.kubectl('patch', 'daemonset', app, '-p', JSON.stringify(change));
        await eventually(`round ${round}`, () => ready(String(round)), patienceMs);
        for (const one of hammers) {
          const { asked, failed, text } = one.hammer.take();
          expect(asked).toBeGreaterThan(20);
          expect(
            (asked - failed) / asked,
            `${one.policy}, round ${round}: ${failed} of ${asked}: ${text}`,
          ).toBeGreaterThanOrEqual(0.95);
        }
      }
    } finally {
      for (const one of hammers) await one.hammer.stop();
    }
    for (const { ip } of hammers) await reachable(ip, 80, app);
  });
});
