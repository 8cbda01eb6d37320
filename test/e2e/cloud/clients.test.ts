// Who may use a load balancer, who is seen by pods, and which of them answers: upstream's e2e tests of source ranges, session affinity and
// externalTrafficPolicy Local (test/e2e/network/loadbalancer.go).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../cluster/harness.ts';
import { askMany, clientOf, CloudWorld, patienceMs, type Pod, podOf, reachable, unreachable } from './world.ts';

const healthz = '/healthz';
const nodeAddresses: Record<string, string> = { 'node-1': '10.77.0.11', 'node-2': '10.77.16.11' };
/** Two pods of this app, one on each node: backends of most services here. */
const app = 'who';
let world: CloudWorld;
/** Two that only ask, one on each node. */
let first: Pod;
let second: Pod;

beforeAll(async () => {
  world = await CloudWorld.create(2);
  await world.apply(
    world.backend('who-1', { app, node: 'node-1' }),
    world.backend('who-2', { app, node: 'node-2' }),
    world.backend('client-1', { app: 'client', node: 'node-1' }),
    world.backend('client-2', { app: 'client', node: 'node-2' }),
    // What a Service changes into is the same for all: they are made here, so that their load balancers come up together.
    service('ranges'),
    service('sticky-local', { sessionAffinity: 'ClientIP', externalTrafficPolicy: 'Local' }),
    service('sticky-cluster', { sessionAffinity: 'ClientIP' }),
    service('switch-local', { externalTrafficPolicy: 'Local' }),
    service('switch-cluster'),
    service('local', { externalTrafficPolicy: 'Local' }),
  );
  await world.podsReady(app);
  [first, second] = (await world.podsReady('client')) as [Pod, Pod];
});
afterAll(async () => {
  await world?.destroy();
});

const service = (name: string, spec: Record<string, unknown> = {}) => world.service(name, { selector: { app }, ...spec });
/** The status code of a node's health check port, or nothing. */
async function healthStatus(node: string, port: number): Promise<number | undefined> {
  const words = ['-s', '-o', '/dev/null', '-m', '3', '-w', '%{http_code}', `http://${nodeAddresses[node]}:${port}${healthz}`];
  const code = Number((await world.cluster.inLan('curl', ...words)).stdout);
  return code > 0 ? code : undefined;
}

describe.concurrent('source ranges', () => {
  it('let in whom they name, from outside and from pods on two nodes', async () => {
    const ip = await world.ingress('ranges');
    const setRanges = (loadBalancerSourceRanges: string[] | null) =>
      world.patch('service', 'ranges', { spec: { loadBalancerSourceRanges } });
    const expectAnswers = async (outside: boolean, ...fromPods: [boolean, boolean]): Promise<void> => {
      await (outside ? reachable(ip, 80, app) : unreachable(ip));
      for (const [index, pod] of [first, second].entries())
        await eventually(
          `${pod.metadata.name} is ${fromPods[index] ? 'let in' : 'kept out'}`,
          async () => (await world.askFromPod(pod.metadata.name, ip)).startsWith(app) === fromPods[index],
          patienceMs,
        );
    };
    await expectAnswers(true, true, true);
    await setRanges([`${first.status.podIP}/32`, `${first.status.hostIP}/32`]);
    await expectAnswers(false, true, false);
    await setRanges(['0.0.0.0/1', '128.0.0.0/1']);
    await expectAnswers(true, true, true);
    await setRanges(['255.0.0.0/32']);
    await expectAnswers(false, false, false);
    await setRanges(null);
    await expectAnswers(true, true, true);
  });
});

describe.concurrent('session affinity', () => {
  const asks = 15;
  const sticks = async (ip: string): Promise<boolean> => (await askMany(asks, ip)).length === 1;
  const spreads = async (ip: string): Promise<boolean> => (await askMany(asks, ip)).join() === 'who-1,who-2';
  const eventuallyAlways = (what: string, check: () => Promise<boolean>): Promise<boolean> => eventually(what, check, patienceMs);
  /** The load balancer has found both nodes healthy: from here on it could spread. */
  const complete = async (name: string): Promise<string> => {
    const ip = await world.ingress(name);
    await eventually('both nodes', async () => (await world.healthyTargets(name)).length === 2, patienceMs);
    return ip;
  };

  for (const policy of ['Local', 'Cluster'] as const) {
    it(`works with ${policy} traffic policy`, async () => {
      const name = `sticky-${policy.toLowerCase()}`;
      const ip = await complete(name);
      await eventuallyAlways('one pod answers', () => sticks(ip));
      const [pod] = await askMany(1, ip);
      for (let i = 0; i < 3; i++) expect(await askMany(asks, ip)).toEqual([pod]);
    });

    it(`can be switched with ${policy} traffic policy`, async () => {
      const name = `switch-${policy.toLowerCase()}`;
      const ip = await complete(name);
      const set = (sessionAffinity: string) => world.patch('service', name, { spec: { sessionAffinity } });
      await eventuallyAlways('both pods answer', () => spreads(ip));
      await set('ClientIP');
      await eventuallyAlways('one pod answers', () => sticks(ip));
      expect(await world.ingress(name)).toBe(ip);
      await set('None');
      await eventuallyAlways('both pods answer again', () => spreads(ip));
      expect(await world.ingress(name)).toBe(ip);
    });
  }
});

describe.concurrent('externalTrafficPolicy Local', () => {
  it('keeps the address of clients; the health check port is freed with the Service', async () => {
    const ip = await world.ingress('local');
    const { healthCheckNodePort = 0 } = (await world.getService('local')).spec ?? {};
    expect(healthCheckNodePort).toBeGreaterThan(0);
    expect(clientOf(await reachable(ip, 80, app))).toBe(await world.machineAddress(ip));
    expect(await healthStatus('node-1', healthCheckNodePort)).toBe(200);
    await world.apply(service('freed', { externalTrafficPolicy: 'Local' }));
    const other = (await world.getService('freed')).spec?.healthCheckNodePort ?? 0;
    await eventually('it answers', async () => (await healthStatus('node-1', other)) === 200);
    await world.kubectl('delete', 'service', 'freed', '--timeout', '50s');
    for (const node of Object.keys(nodeAddresses))
      await eventually(`the port is closed on ${node}`, async () => (await healthStatus(node, other)) === undefined);
    // It can be had again.
    await world.apply(service('freed', { externalTrafficPolicy: 'Local', healthCheckNodePort: other }));
    await world.kubectl('delete', 'service', 'freed', '--wait=false');
  });

  it('only nodes with endpoints get traffic, also while the endpoint moves', async () => {
    await world.apply(world.service('moving', { externalTrafficPolicy: 'Local' }));
    const ip = await world.ingress('moving');
    const { healthCheckNodePort = 0 } = (await world.getService('moving')).spec ?? {};
    for (const [number, node] of ['node-1', 'node-2', 'node-1'].entries()) {
      const name = `moving-${number}`;
      await world.apply(world.backend(name, { app: 'moving', node }));
      const other = node === 'node-1' ? 'node-2' : 'node-1';
      await eventually(`${node} is healthy`, async () => (await healthStatus(node, healthCheckNodePort)) === 200);
      expect(await healthStatus(other, healthCheckNodePort)).toBe(503);
      await eventually('the load balancer knows', async () => (await world.healthyTargets('moving')).join() === node, patienceMs);
      expect(podOf(await reachable(ip, 80, name))).toBe(name);
      expect(await askMany(10, ip)).toEqual([name]);
      await world.kubectl('delete', 'pod', name, '--timeout', '50s');
      await eventually(`${node} is not healthy any more`, async () => (await healthStatus(node, healthCheckNodePort)) === 503);
    }
    await unreachable(ip);
    await world.kubectl('delete', 'service', 'moving', '--wait=false');
  });

  it('all nodes with endpoints get traffic', async () => {
    const ip = await world.ingress('local');
    await eventually('answers of both pods', async () => (await askMany(10, ip)).join() === 'who-1,who-2', patienceMs);
  });

  it('works from pods, which are seen by their own addresses', async () => {
    const ip = await world.ingress('local');
    for (const { metadata, status } of [first, second])
      expect(clientOf(await world.askFromPod(metadata.name, ip))).toBe(status.podIP);
    // From a node that has an endpoint of its own, and from one that has none.
    await world.apply({ ...world.service('one-sided', { externalTrafficPolicy: 'Local', selector: { side: 'one' } }) });
    await world.kubectl('label', 'pod', 'who-1', 'side=one');
    const address = await world.ingress('one-sided');
    for (const { metadata, status } of [first, second])
      await eventually(
        `an answer to ${metadata.name}`,
        async () => (await world.askFromPod(metadata.name, address)) === `who-1 ${status.podIP}`,
      );
    expect(await reachable(address, 80, app)).toBe(`who-1 ${await world.machineAddress(address)}`);
  });
});
