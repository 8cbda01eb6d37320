// The cloud-controller-manager with nothing but the rights it asks for: the roles of deploy/cloud-controller-manager over the real authorizer,
// through all that its loops do, as one identity and as one of its own for each loop (`--use-service-account-credentials`). In virtual time.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Node, Service } from '#api/core/v1';
import { StatusError } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { parseCIDR } from '#apimachinery/validation';
import { createClient, type KubeClient } from '#client';
import {
  cloudControllers,
  cloudMetrics,
  defaultCloudControllersConfig,
  leaderElectionRole,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { FakeCloud, fakeProvider, fakeProviderName } from '#cloud-provider/fake';
import { createMetrics, defaultLeaderElection } from '#component-base';
import type { PolicyRule } from '#controller-runtime';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';
import { nodes, services, uninitialized } from './world.ts';

const manifest = fileURLToPath(new URL('../../../deploy/cloud-controller-manager/rbac.yaml', import.meta.url));
const rbac = (resource: string): GroupVersionResource => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource });
const resourceOf: Record<string, GroupVersionResource> = {
  ServiceAccount: { group: '', version: 'v1', resource: 'serviceaccounts' },
  ClusterRole: rbac('clusterroles'),
  ClusterRoleBinding: rbac('clusterrolebindings'),
  Role: rbac('roles'),
  RoleBinding: rbac('rolebindings'),
};
const merge = 'application/merge-patch+json';
const main = 'cloud-controller-manager';

let clock: VirtualClock;
let plane: TestControlPlane;
let cloud: FakeCloud;
let manager: RunningCloudControllerManager | undefined;
/** Requests that were refused. */
let forbidden: string[];
/** What each service account did: `verb resource.group`. */
let used: Map<string, Set<string>>;

async function applyRoles(without: readonly string[] = []): Promise<void> {
  for (const document of parseAllDocuments(await readFile(manifest, 'utf8'))) {
    const object = document.toJS() as KubeObject;
    const { name = '', namespace } = object.metadata;
    const resource = resourceOf[object.kind ?? ''];
    if (!resource) throw new Error(`what is a ${object.kind}?`);
    if (!without.includes(name)) await plane.client.resource(resource, namespace).create(object);
  }
}

/** The client of a service account in kube-system, watched. */
function clientOf(account: string): KubeClient {
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  const inner = plane.apiserver.transport({ name: `system:serviceaccount:kube-system:${account}`, groups }, 'ccm');
  const did = used.get(account) ?? new Set<string>();
  used.set(account, did);
  const note = async <T>(what: string, request: () => Promise<T>): Promise<T> => {
    did.add(what);
    try {
      return await request();
    } catch (error) {
      if (error instanceof StatusError && error.status.code === 403) forbidden.push(`${account}: ${error.message}`);
      throw error;
    }
  };
  const named = ({ group, resource, subresource }: { group: string; resource: string; subresource?: string }): string =>
    `${resource}${subresource ? `/${subresource}` : ''}.${group}`;
  const transport: Transport = {
    ...inner,
    call: (call, signal) => note(`${call.verb} ${named(call)}`, () => inner.call(call, signal)),
    watch: (call, signal) => note(`watch ${named(call)}`, () => inner.watch(call, signal)),
    raw: (...request) => inner.raw(...request),
    close: () => inner.close(),
  };
  return createClient(transport);
}

const config = {
  ...defaultCloudControllersConfig(),
  clusterCidrs: ['10.244.0.0/16'].flatMap((text) => parseCIDR(text) ?? []),
};
function startManager(ownIdentities: boolean): void {
  manager = runCloudControllerManager(
    {
      providerName: fakeProviderName,
      cloud: fakeProvider(cloud),
      controllers: ['*'],
      config,
      leaderElection: defaultLeaderElection(main),
      identity: 'one',
    },
    { client: clientOf(main), ...(ownIdentities && { clientFor: clientOf }), clock, rng: seededRng(1), logger: silentLogger },
  );
}

const nodeClient = () => plane.client.resource<Node>(nodes);
const serviceClient = () => plane.client.resource<Service>(services, 'default');
const report = (name: string, status: string) =>
  nodeClient().patch(name, merge, { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' });
async function addNode(name: string, index: number): Promise<void> {
  cloud.addInstance(name);
  const podCIDR = `10.244.${index}.0/24`;
  const labels = { 'failure-domain.beta.kubernetes.io/zone': 'old' };
  const spec = { podCIDR, podCIDRs: [podCIDR], taints: [uninitialized] };
  await nodeClient().create({ metadata: { name, labels }, spec });
  await report(name, 'True');
}

/** Everything that the four loops do. */
async function live(): Promise<void> {
  for (const index of [1, 2, 3]) await addNode(`n${index}`, index);
  for (const name of ['a', 'b'])
    await serviceClient().create({ metadata: { name }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
  await clock.advance(30_000);
  // Another address, a label out of step, a machine that stops and comes back, one that goes.
  const instance = cloud.instanceOf('n1');
  if (instance) instance.addresses = [{ type: 'InternalIP', address: '10.9.9.9' }];
  await nodeClient().patch('n1', merge, { metadata: { labels: { 'failure-domain.beta.kubernetes.io/zone': 'newer' } } });
  const stopped = cloud.instanceOf('n2');
  if (stopped) stopped.state = 'stopped';
  await report('n2', 'Unknown');
  cloud.removeInstance('n3');
  await report('n3', 'Unknown');
  // A failure that is told again and again.
  cloud.gate.failNext('ensureLoadBalancer', ...Array.from({ length: 3 }, () => new Error('no quota')));
  await serviceClient().patch('a', merge, { spec: { ports: [{ port: 443 }] } });
  await clock.advance(60_000);
  await report('n2', 'True');
  await serviceClient().patch('a', merge, { spec: { type: 'ClusterIP' } });
  await serviceClient().delete('b');
  await clock.advance(330_000);
}

beforeEach(async () => {
  [forbidden, used] = [[], new Map()];
  clock = virtualClock();
  plane = await startTestControlPlane({ clock, whole: true, admission: { disable: ['ServiceAccount'] } });
  cloud = new FakeCloud({ clock });
});
afterEach(async () => {
  await manager?.stop();
  manager = undefined;
  await plane.stop();
});

const spread = (rules: readonly PolicyRule[]): string[] =>
  rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
    verbs.flatMap((verb) => apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${resource}.${group}`))),
  );
/** What the loops declare, by service account. */
function declared(): Map<string, string[]> {
  const entries = cloudControllers(fakeProvider(cloud), fakeProviderName, config, cloudMetrics(createMetrics()), {
    clock,
    rng: seededRng(1),
  });
  const rights = new Map<string, string[]>();
  for (const entry of entries) {
    const made = entry.make();
    if ('notStarted' in made) throw new Error(made.notStarted);
    const account = made.serviceAccount ?? made.name;
    rights.set(account, [...(rights.get(account) ?? []), ...spread(made.rights)]);
  }
  return rights;
}

describe.each([false, true])('the manager, its loops with identities of their own: %s', (ownIdentities) => {
  it('is never refused, and does nothing that it does not declare', async () => {
    await applyRoles();
    await clock.advance(1_000);
    startManager(ownIdentities);
    await live();
    expect(forbidden).toEqual([]);

    // It did all there is to do.
    expect(await nodeClient().list()).toMatchObject({ items: [{ metadata: { name: 'n1' } }, { metadata: { name: 'n2' } }] });
    const [first] = (await nodeClient().list()).items;
    expect(first?.status?.addresses?.[0]?.address).toBe('10.9.9.9');
    expect(first?.metadata.labels?.['topology.kubernetes.io/zone']).toBe('newer');
    expect(first?.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')?.reason).toBe('RouteCreated');
    expect((await serviceClient().list()).items.map(({ metadata }) => metadata.name)).not.toContain('b');
    expect(cloud.balancers.size).toBe(0);
    expect(cloud.routes.size).toBe(2);

    const rights = declared();
    const own = ownIdentities ? [] : [...rights.values()].flat();
    const allowed = new Map([
      [main, [...own, ...spread(leaderElectionRole), 'list nodes.', 'watch nodes.', 'list services.', 'watch services.']],
      ...(ownIdentities ? rights : []),
    ]);
    for (const [account, did] of used) {
      expect(did.size, account).toBeGreaterThan(0);
      expect(
        [...did].filter((what) => !allowed.get(account)?.includes(what)),
        account,
      ).toEqual([]);
    }
    expect([...used.keys()].sort()).toEqual([...allowed.keys()].sort());
    const all = new Set([...used.values()].flatMap((did) => [...did]));
    for (const what of [
      'update nodes.',
      'patch nodes.',
      'delete nodes.',
      'patch nodes/status.',
      'patch services/status.',
      'patch events.',
    ])
      expect(all, what).toContain(what);
  });
});

describe('without the role beside the documented one', () => {
  it('the manager is refused, which is why it is there', async () => {
    await applyRoles(['sagong:cloud-controller-manager']);
    await clock.advance(1_000);
    startManager(false);
    await live();
    expect(new Set(forbidden.map((text) => /cannot (\w+) resource "([^"]+)"/.exec(text)?.slice(1).join(' ')))).toEqual(
      new Set(['patch services/status']),
    );
  });
});
