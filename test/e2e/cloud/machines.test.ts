// Nodes as instances of the cloud: what the cloud-controller-manager, routes and load balancers make of instances that come, stop, start and go.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '#cloud';
import { eventually } from '../cluster/harness.ts';
import { ask, askMany, clientOf, CloudWorld, patienceMs, podOf, reachable } from './world.ts';

const app = 'who';
let world: CloudWorld;

beforeAll(async () => {
  world = await CloudWorld.create(3);
  await world.apply(
    world.backends('DaemonSet', app),
    world.service('who'),
    world.service('local', { externalTrafficPolicy: 'Local', selector: { app } }),
  );
  await eventually('pods', async () => (await world.pods(app)).length === 3, patienceMs);
  await world.podsReady(app);
});
afterAll(async () => {
  await world?.destroy();
});

const condition = async (name: string, type: string): Promise<string | undefined> =>
  (await world.node(name))?.status?.conditions?.find((one) => one.type === type)?.status;
const taints = async (name: string): Promise<string[]> => (await world.node(name))?.spec?.taints?.map(({ key }) => key) ?? [];
const ready = (name: string): Promise<unknown> =>
  eventually(`${name} is Ready`, async () => (await condition(name, 'Ready')) === 'True', patienceMs);
const nodeCommand = async (...words: string[]): Promise<void> => {
  const { code, stdout, stderr } = await world.cluster.sagong('node', ...words);
  expect(code, stdout + stderr).toBe(0);
};
const backends = (service: string, ...nodes: string[]): Promise<unknown> =>
  eventually(
    `${service} is served by ${nodes.join(', ')}`,
    async () => {
      const now = (await world.healthyTargets(service)).join();
      if (now !== nodes.join()) throw new Error(now);
      return true;
    },
    patienceMs,
  );
async function podRoutes(): Promise<Route[]> {
  const { items } = await world.api.listRouteTables({ main: 'true' });
  return items.flatMap(({ routes }) => routes).filter(({ destination }) => destination.startsWith('10.244.'));
}
const podOn = async (node: string) => {
  const found = (await world.pods(app)).find(({ spec, status }) => spec.nodeName === node && status.podIP);
  if (!found) throw new Error(`${node} has no pod`);
  return found;
};
/** Whether the pod of one node has contact with that of the other. */
async function contact(from: string, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([podOn(from), podOn(to)]);
  return podOf(await world.askFromPod(one.metadata.name, other.status.podIP, 8080)) === other.metadata.name;
}

describe('routes', () => {
  it('in the cloud are the Nodes’ own, and pods talk over them', async () => {
    const routes = await podRoutes();
    const instances = (await world.api.listInstances({})).items;
    for (const name of ['node-1', 'node-2', 'node-3']) {
      const node = await world.node(name);
      const id = instances.find((instance) => instance.name === name)?.id;
      expect(node?.spec?.providerID).toMatch(new RegExp(`^local://local-1[abc]/${id}$`));
      const route = routes.find(({ destination }) => destination === node?.spec?.podCIDR);
      expect(route).toMatchObject({ target: { kind: 'instance', id }, state: 'active' });
      expect(route?.name).toContain(node?.metadata.uid);
      expect(node?.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')).toMatchObject({
        status: 'False',
        reason: 'RouteCreated',
      });
    }
    expect(routes).toHaveLength(3);
    expect(await contact('node-1', 'node-2')).toBe(true);
    expect(await contact('node-2', 'node-1')).toBe(true);
    // Nothing on the nodes themselves knows the way to other nodes' pods.
    const { stdout } = await world.cluster.inNode(1, 'ip', 'route', 'show');
    expect(stdout).not.toContain((await world.node('node-2'))?.spec?.podCIDR?.split('/')[0] ?? 'a CIDR');
  });
});

describe('instances', () => {
  // Until Nodes count as not Ready, most of a minute passes (--node-monitor-grace-period): the tests between use it.
  it('that are stopped or terminated get no more traffic', async () => {
    for (const service of ['who', 'local']) await backends(service, 'node-1', 'node-2', 'node-3');
    await Promise.all([nodeCommand('stop', 'node-2'), nodeCommand('terminate', 'node-3')]);
    for (const service of ['who', 'local']) await backends(service, 'node-1');
    // Under policy Local no other node sends on to their pods, which still count as ready.
    const ip = await world.ingress('local');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(ip)));
    expect(answers.filter((answer) => !answer.startsWith(app))).toEqual([]);
    expect((await podRoutes()).filter(({ state }) => state === 'blackhole').length).toBeGreaterThan(0);
  });

  it('that are added become nodes and get traffic', async () => {
    await nodeCommand('add', 'node-4');
    await ready('node-4');
    await world.loadImage();
    for (const service of ['who', 'local']) await backends(service, 'node-1', 'node-4');
    const added = (await podOn('node-4')).metadata.name;
    const ip = await world.ingress('local');
    await eventually('an answer of its pod', async () => (await askMany(5, ip)).includes(added), patienceMs);
    expect(await contact('node-4', 'node-1')).toBe(true);
    expect(await contact('node-1', 'node-4')).toBe(true);
  });

  it('lose contact when somebody takes a route away; the cloud-controller-manager makes it again', async () => {
    const destination = (await world.node('node-4'))?.spec?.podCIDR ?? '';
    const [table] = (await world.api.listRouteTables({ main: 'true' })).items;
    // The cloud refuses to make it again for now.
    await world.api.putFaults({ errorRate: 1, operations: ['putRoute'] });
    try {
      await world.api.deleteRoute({ routeTableId: table?.id ?? '', destination });
      await eventually('no contact', async () => !(await contact('node-1', 'node-4')));
    } finally {
      await world.api.deleteFaults({});
    }
    await eventually('the route', async () => (await podRoutes()).some((route) => route.destination === destination), patienceMs);
    await eventually('contact', () => contact('node-1', 'node-4'), patienceMs);
  });

  it('that are terminated leave no Node, route or target, as soon as the Node is not Ready', async () => {
    // Not Ready comes from missing leases (--node-monitor-grace-period); from then on it is a matter of seconds.
    await eventually('not Ready any more', async () => (await condition('node-3', 'Ready')) !== 'True', patienceMs);
    await eventually('the Node is gone', async () => (await world.node('node-3')) === undefined, patienceMs);
    expect(await world.events('node-3')).toContain('DeletingNode');
    await eventually('the route is gone', async () => (await podRoutes()).length === 3, patienceMs);
    for (const service of ['who', 'local'])
      await eventually('no target', async () => (await world.balancer(service)).targets.length === 3, patienceMs);
  });

  it('that are stopped are kept, NotReady and tainted; started, they come back as they were', async () => {
    await eventually('NotReady', async () => (await condition('node-2', 'Ready')) === 'Unknown', patienceMs);
    await eventually(
      'the shutdown taint',
      async () => (await taints('node-2')).includes('node.cloudprovider.kubernetes.io/shutdown'),
      patienceMs,
    );
    const uid = (await world.node('node-2'))?.metadata.uid;
    await nodeCommand('start', 'node-2');
    await ready('node-2');
    await eventually('no taints', async () => (await taints('node-2')).length === 0, patienceMs);
    expect((await world.node('node-2'))?.metadata.uid).toBe(uid);
    await backends('who', 'node-1', 'node-2', 'node-4');
    await backends('local', 'node-1', 'node-2', 'node-4');
    await eventually('contact again', () => contact('node-1', 'node-2'), patienceMs);
    expect((await podRoutes()).filter(({ state }) => state === 'active')).toHaveLength(3);
    const ip = await world.ingress('local');
    expect(clientOf(await reachable(ip, 80, app))).toBe(await world.machineAddress(ip));
  });
});
