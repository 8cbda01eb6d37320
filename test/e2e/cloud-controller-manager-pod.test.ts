// The cloud-controller-manager as pods: an image made of this program, the manifests of deploy/, three replicas on three nodes that wait for it,
// and a cloud that outlives them all. The leader's process is killed in the middle of its work.
import type { ChildProcess } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Node, Pod, Service } from '#api/core/v1';
import { binary, eventually, run, TestCluster } from './cluster/harness.ts';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..');
const nodeCount = 3;
const cloudPort = 8_099;
/** Another replica may act when the lease and a retry are over; machines have their own pace. */
const patienceMs = 60_000;

interface CloudState {
  instances: { name: string; address: string }[];
  balancers: { id: string; name: string; address: string }[];
  routes: { node: string; cidr: string }[];
  calls: { name: string; by: string; atMs: number }[];
}

let cluster: TestCluster;
/** Where this machine is on the nodes' network. */
let host = '';
let cloud: ChildProcess | undefined;
const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);
const list = async <T>(...args: string[]): Promise<T[]> =>
  (await cluster.json<{ items: T[] }>('get', '--show-managed-fields', ...args)).items;
const nodes = () => list<Node>('nodes');
const services = () => list<Service>('services', '-l', 'e2e=cloud');
const lease = () => cluster.json<Lease>('get', 'lease', 'cloud-controller-manager', '-n', 'kube-system');
const managers = () => list<Pod>('pods', '-n', 'kube-system', '-l', 'k8s-app=cloud-controller-manager');
const taints = (node: Node): string[] => (node.spec?.taints ?? []).map(({ key }) => key);
const namesOf = (items: readonly Service[]): string[] =>
  items.map(({ metadata }) => `a${metadata.uid?.replaceAll('-', '')}`.slice(0, 32)).sort();

const fetchSource = `
  const [url, authorization, body] = process.argv.slice(1);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const sent = body ? { method: 'POST', body } : {};
  fetch(url, { headers: { authorization }, ...sent }).then(async (response) => console.log(await response.text()));
`;
/** Asks over HTTP from the nodes' network. */
async function ask(url: string, { authorization = '', body = '' } = {}): Promise<string> {
  const { code, stdout, stderr } = await cluster.inLan(process.execPath, '-e', fetchSource, url, authorization, body);
  if (code !== 0) throw new Error(`${url} does not answer: ${stderr}`);
  return stdout.trim();
}
const askCloud = async (path: string, body?: object): Promise<CloudState> =>
  JSON.parse(
    await ask(`http://${host}:${cloudPort}/${path}`, body === undefined ? {} : { body: JSON.stringify(body) }),
  ) as CloudState;
async function addService(name: string): Promise<void> {
  await cluster.apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, labels: { e2e: 'cloud' } },
      spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
    }),
  );
}
/** Each Service has one load balancer and its address, each Node one route; and there is nothing else. */
async function settled(): Promise<boolean> {
  const [all, everywhere, state] = [await services(), await nodes(), await askCloud('state')];
  const given = all.map(({ status }) => status?.loadBalancer?.ingress?.[0]?.ip ?? '').sort();
  return (
    JSON.stringify(state.balancers.map(({ name }) => name).sort()) === JSON.stringify(namesOf(all)) &&
    JSON.stringify(state.balancers.map(({ address }) => address).sort()) === JSON.stringify(given) &&
    JSON.stringify(state.routes.map(({ node, cidr }) => `${node} ${cidr}`).sort()) ===
      JSON.stringify(everywhere.map(({ metadata, spec }) => `${metadata.name} ${spec?.podCIDR}`).sort())
  );
}
/** The process of a manager's container, found by the cgroup of its pod. */
async function processOf({ metadata }: Pod): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const words = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (!words.includes('cloud-controller-manager')) continue;
    const groups = await readFile(`/proc/${entry}/cgroup`, 'utf8').catch(() => '');
    if (groups.replaceAll('_', '-').includes(`pod${metadata.uid}`)) return Number(entry);
  }
  throw new Error(`no process of pod ${metadata.name} runs`);
}

/** The manifests with this test's settings, as a user would make an overlay of them. */
async function deploy(): Promise<void> {
  const overlay = join(cluster.home, 'overlay');
  await mkdir(overlay, { recursive: true });
  await cp(join(root, 'deploy', 'cloud-controller-manager'), join(overlay, 'base'), { recursive: true });
  await cp(join(root, 'test', 'e2e', 'shared-cloud', 'provider.mjs'), join(overlay, 'provider.mjs'));
  await writeFile(join(overlay, 'cloud-config.yaml'), `url: http://${host}:${cloudPort}\n`);
  const kustomization = {
    resources: ['base'],
    configMapGenerator: [
      {
        name: 'cloud-controller-manager',
        namespace: 'kube-system',
        behavior: 'merge',
        literals: ['CLOUD_PROVIDER=./provider.mjs'],
      },
    ],
    patches: [
      {
        target: { kind: 'Deployment', name: 'cloud-controller-manager' },
        patch: JSON.stringify([
          { op: 'add', path: '/spec/template/spec/containers/0/args/-', value: '--use-service-account-credentials=true' },
        ]),
      },
    ],
    secretGenerator: [{ name: 'cloud-config', namespace: 'kube-system', files: ['provider.mjs', 'cloud-config.yaml'] }],
  };
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
  await kubectl('apply', '-k', overlay);
}

beforeAll(async () => {
  cluster = await TestCluster.create();
  await cluster.up('--nodes', String(nodeCount), '--cloud-provider', 'external');
  const { stdout } = await cluster.inLan('ip', '-4', '-oneline', 'address', 'show', 'scope', 'global');
  host = /inet ([\d.]+)/.exec(stdout)?.[1] ?? '';
  cloud = await cluster.startInLan(
    'import(process.argv[1])',
    join(root, 'test', 'e2e', 'shared-cloud', 'cloud.mjs'),
    host,
    String(cloudPort),
  );
  for (const { metadata, status } of await nodes()) {
    const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    await askCloud('instances', { name: metadata.name, address });
  }
}, 180_000);
afterAll(async () => {
  cloud?.kill();
  await cluster?.destroy();
}, 120_000);

describe('a cluster whose cloud-controller-manager is a Deployment', () => {
  it('lets nothing run before its nodes are initialised', async () => {
    await cluster.loadBusybox('docker.io/library/busybox:1');
    for (const node of await nodes()) expect(taints(node)).toContain('node.cloudprovider.kubernetes.io/uninitialized');
    await kubectl(
      'create',
      'deployment',
      'web',
      '--image',
      'docker.io/library/busybox:1',
      '--replicas',
      '3',
      '--',
      'sleep',
      '1d',
    );
    await eventually('pods that wait for the taint to go', async () =>
      (await kubectl('get', 'events')).includes('3 node(s) had untolerated taint'),
    );
    expect(await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}')).toBe('');
  });

  it('runs it from an image made of this program, one replica on each node, and then all runs', async () => {
    const image = join(cluster.home, 'sagong-image.tar');
    const built = await run(process.execPath, [binary, 'build-image', '-o', image]);
    expect(built, built.stderr).toMatchObject({ code: 0 });
    const loaded = await cluster.sagong('load-image', image);
    expect(loaded, loaded.stderr).toMatchObject({ code: 0 });
    await deploy();
    await kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/cloud-controller-manager', '--timeout', '50s');
    expect(new Set((await managers()).map(({ spec }) => spec?.nodeName)).size).toBe(nodeCount);
    await eventually('initialised nodes', async () => (await nodes()).every((node) => taints(node).length === 0));
    for (const { metadata, spec, status } of await nodes()) {
      expect(spec?.providerID).toMatch(/^(shared|local):\/\//);
      expect(metadata.labels).toMatchObject({ 'topology.kubernetes.io/zone': 'z1' });
      expect(status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')).toMatchObject({
        status: 'False',
        reason: 'RouteCreated',
      });
    }
    await kubectl('rollout', 'status', 'deployment/web', '--timeout', '60s');
    // Each loop has acted as itself.
    const accounts = await kubectl('-n', 'kube-system', 'get', 'serviceaccounts', '-o', 'name');
    for (const name of ['node-controller', 'route-controller']) expect(accounts).toContain(`serviceaccount/${name}\n`);
    const managed = (await nodes()).flatMap(({ metadata }) => metadata.managedFields ?? []).map(({ manager }) => manager);
    expect(managed).toEqual(expect.arrayContaining(['node-controller', 'route-controller']));
  });

  it('tells its health to the kubelet, and its metrics to those who may see them', async () => {
    const [pod] = await managers();
    const url = `https://${pod?.status?.podIP}:10258`;
    expect(await ask(`${url}/healthz`)).toBe('ok');
    expect(await ask(`${url}/metrics`)).toContain('"reason":"Forbidden"');
    await kubectl('create', 'clusterrole', 'metrics', '--verb=get', '--non-resource-url=/metrics');
    await kubectl('create', 'serviceaccount', 'prometheus');
    await kubectl('create', 'clusterrolebinding', 'metrics', '--clusterrole=metrics', '--serviceaccount=default:prometheus');
    const token = (await kubectl('create', 'token', 'prometheus')).trim();
    await eventually('metrics', async () =>
      (await ask(`${url}/metrics`, { authorization: `Bearer ${token}` })).includes('leader_election_master_status'),
    );
  });

  it('goes on when the leader is killed at its work, with nothing made twice and nothing lost', async () => {
    for (let index = 1; index <= 4; index++) await addService(`lb-${index}`);
    await eventually('all of it in the cloud', settled);
    const holder = (await lease()).spec?.holderIdentity ?? '';
    const leader = (await managers()).find(({ spec }) => holder.startsWith(`${spec?.nodeName}_`)) as Pod;
    for (let index = 5; index <= 8; index++) await addService(`lb-${index}`);
    await kubectl('delete', 'service', 'lb-1', '--wait=false');
    await eventually('the first of the new ones', async () => (await askCloud('state')).balancers.length > 4 - 1);
    process.kill(await processOf(leader), 'SIGKILL');
    const killedMs = Date.now();
    await eventually(
      'another leader',
      async () => {
        const next = (await lease()).spec?.holderIdentity ?? '';
        return next !== holder && next !== '';
      },
      patienceMs,
    );
    console.log(`another leads ${Date.now() - killedMs} ms after the kill`);
    await eventually('all of it in the cloud', settled, patienceMs);
    const { calls, balancers } = await askCloud('state');
    expect(calls.some(({ atMs }) => atMs > killedMs)).toBe(true);
    // One acts at a time: who called last before the kill never calls again, and what was made was made once.
    const before = calls.filter(({ by, atMs }) => by !== '' && atMs < killedMs).at(-1)?.by;
    expect(calls.some(({ by, atMs }) => by === before && atMs > killedMs + 1_000)).toBe(false);
    expect(calls.filter(({ name }) => name === 'createBalancer').length).toBe(8);
    expect(calls.filter(({ name }) => name === 'createRoute').length).toBe(nodeCount);
    expect(new Set(balancers.map(({ name }) => name)).size).toBe(7);
    await eventually('three replicas again', async () =>
      (await managers()).every(({ status }) => status?.containerStatuses?.every(({ ready }) => ready)),
    );
  });

  it('hands over at once when it is updated, for a leader that is stopped gives its lease back', async () => {
    const holder = (await lease()).spec?.holderIdentity ?? '';
    await kubectl('-n', 'kube-system', 'rollout', 'restart', 'deployment/cloud-controller-manager');
    await addService('lb-9');
    await kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/cloud-controller-manager', '--timeout', '55s');
    await eventually('all of it in the cloud', settled, patienceMs);
    expect((await lease()).spec?.holderIdentity).not.toBe(holder);
    expect((await askCloud('state')).calls.filter(({ name }) => name === 'createBalancer').length).toBe(9);
  });
});
