// The program `cloud-controller-manager` as a process of its own: what it refuses to start with, what it serves while it stands by, which loops
// it runs, and how it ends. In real time, against a cluster in this process.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import type { Node, Service } from '#api/core/v1';
import { startCluster, type TestCluster } from '#testing';
import { freePort } from '../../support/ports.ts';
import { nodes, services, uninitialized } from './world.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
const metaUrl = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;";
/** Far more than anything here takes, but for a crowded machine. */
const slowMs = 60_000;
let dir: string;
let cluster: TestCluster;
const children: ChildProcess[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-ccm-'));
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  [cluster] = await Promise.all([
    startCluster({ nodes: 0, cloud: false }),
    build({
      entryPoints: [join(root, 'src/cmd/main.ts')],
      outfile: join(dir, 'sagong.cjs'),
      bundle: true,
      platform: 'node',
      target: 'node20',
      format: 'cjs',
      conditions: ['sagong-src'],
      define: { 'import.meta.url': 'importMetaUrl' },
      banner: { js: metaUrl },
      loader: { '.proto': 'text' },
      logLevel: 'error',
    }),
  ]);
  await writeFile(join(dir, 'kubeconfig'), cluster.kubeconfig);
  await writeFile(join(dir, 'cloud.yaml'), 'instances:\n  - name: n1\n  - name: n2\n');
}, 120_000);
afterAll(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await cluster?.stop();
  await rm(dir, { recursive: true, force: true });
});

const flags = (...more: string[]): string[] => [
  join(dir, 'sagong.cjs'),
  'cloud-controller-manager',
  '--kubeconfig',
  join(dir, 'kubeconfig'),
  '--bind-address',
  '127.0.0.1',
  ...more,
];
const fake = ['--cloud-provider=fake', '--cloud-config=cloud.yaml'];

/** Runs it until it ends by itself. */
const ended = (...more: string[]): Promise<{ code: unknown; stderr: string }> =>
  new Promise((resolve) =>
    execFile(process.execPath, flags(...more), { cwd: dir, timeout: slowMs }, (error, _stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stderr }),
    ),
  );

interface Running {
  port: number;
  child: ChildProcess;
}
async function start(...more: string[]): Promise<Running> {
  const port = await freePort();
  const timing = ['--leader-elect-lease-duration=3s', '--leader-elect-renew-deadline=2s', '--leader-elect-retry-period=500ms'];
  const child = spawn(process.execPath, flags(...fake, '--secure-port', `${port}`, ...timing, ...more), {
    cwd: dir,
    stdio: 'ignore',
  });
  children.push(child);
  await eventually(async () => (await get(port, '/healthz').catch(() => undefined))?.status === 200);
  return { port, child };
}

const get = (port: number, path: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + slowMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error('it did not come true');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const lease = () => cluster.client.resource<Lease>(leases, 'kube-system');
const holder = async (): Promise<string | undefined> => {
  const { items } = await lease().list();
  return items.find(({ metadata }) => metadata.name === 'cloud-controller-manager')?.spec?.holderIdentity;
};
const node = () => cluster.client.resource<Node>(nodes);

describe('it does not start', () => {
  it.each([
    ['without a provider', [], '--cloud-provider cannot be empty'],
    ['with an unknown provider', ['--cloud-provider=nonsense'], 'unknown cloud provider "nonsense"'],
    ['with an unknown controller', [...fake, '--controllers=-nonsense'], '"nonsense" is not in the list of known controllers'],
    ['with two cluster CIDRs of one family', [...fake, '--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], 'not configured as dual stack'],
    ['without a CIDR for routes', fake, 'node-route-controller needs --cluster-cidr'],
    ['with more than flags', [...fake, 'more'], '"sagong cloud-controller-manager" does not take any arguments, got ["more"]'],
    ['with a gate that nobody knows', [...fake, '--feature-gates=AllAlpha=true,X=true'], 'unrecognized feature gate: X'],
    [
      'with two servers on one port',
      [...fake, '--configure-cloud-routes=false', '--webhook-secure-port=10258', '--feature-gates=AllAlpha=true'],
      '--webhook-secure-port cannot be the same value as --secure-port',
    ],
    ['without workers', [...fake, '--concurrent-node-syncs=0'], 'concurrent-node-syncs must be greater than 0'],
  ])('%s', { timeout: slowMs }, async (_what, more, message) => {
    const { code, stderr } = await ended(...more);
    expect(stderr).toContain(message);
    expect(code).toBe(1);
  });
});

describe('two of it', () => {
  it('share the work as they are told to, and end as they should', { timeout: 2 * slowMs }, async () => {
    const controllers = '--controllers=*,-route';
    const first = await start(controllers, '--cluster-cidr=10.244.0.0/16');
    await eventually(async () => Boolean(await holder()));
    const standby = await start(controllers);

    // All but routes is done.
    const podCIDR = '10.244.1.0/24';
    await node().create({ metadata: { name: 'n1' }, spec: { podCIDR, podCIDRs: [podCIDR], taints: [uninitialized] } });
    await cluster.client
      .resource<Service>(services, 'default')
      .create({ metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    const ingress = async () =>
      (await cluster.client.resource<Service>(services, 'default').get('web')).status?.loadBalancer?.ingress;
    await eventually(async () => (await node().get('n1')).spec?.providerID === 'fake://i-000001');
    await eventually(async () => (await ingress()) !== undefined);
    const checks = (await get(first.port, '/healthz?verbose')).body;
    for (const name of ['cloud-node-controller', 'cloud-node-lifecycle-controller', 'service-lb-controller', 'leaderElection'])
      expect(checks).toContain(`[+]${name} ok`);
    expect(checks).not.toContain('node-route-controller');

    // Both serve; nobody reads metrics without being somebody.
    for (const { port } of [first, standby]) {
      expect(await get(port, '/healthz')).toEqual({ status: 200, body: 'ok' });
      expect((await get(port, '/metrics')).status).toBe(403);
      expect((await get(port, '/configz')).status).toBe(403);
    }
    expect((await get(standby.port, '/healthz?verbose')).body).not.toContain('service-lb-controller');

    // Somebody else has the lease: the process ends at once.
    const mine = await lease().get('cloud-controller-manager');
    const exit = once(first.child, 'exit');
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await lease().patch('cloud-controller-manager', 'application/merge-patch+json', {
      spec: { holderIdentity: 'somebody-else', renewTime },
    });
    expect((await exit)[0]).toBe(1);
    // The other takes over when that somebody does not renew, and ends in good order.
    await eventually(async () => {
      const now = await holder();
      return now !== undefined && now !== 'somebody-else' && now !== mine.spec?.holderIdentity;
    });
    standby.child.kill('SIGTERM');
    expect(await once(standby.child, 'exit')).toEqual([0, null]);
    expect(await holder()).toBe('');
  });
});
