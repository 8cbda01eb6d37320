// Every component alone, as on a hand-made cluster: a real etcd, our apiserver on it, and scheduler and controller manager over TLS with
// upstream's flags and identities of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPair, privateKeyPem } from '#pki';
import { freePort } from '../support/ports.ts';
import { binary, eventually, run } from './cluster/harness.ts';

let dir = '';
let server: string;
const children: ChildProcess[] = [];
/** What each program said so far. */
const logs: Record<string, string> = {};
/** Of the components' own endpoints. */
let ports = { 'kube-scheduler': 0, 'kube-controller-manager': 0 };
const own = (port: number): string[] => ['--bind-address', '127.0.0.1', '--secure-port', String(port)];

/** Asks one of the components itself. */
const ask = (port: number, path: string, token?: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });

function start(name: string, command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  logs[name] = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      logs[name] += chunk.toString();
    });
  child.once('exit', () => void writeFile(join(dir, `${name}.log`), logs[name] ?? '').catch(() => {}));
  children.push(child);
  return child;
}
const component = (name: string, ...args: string[]): ChildProcess => start(name, process.execPath, [binary, name, ...args]);
const kubectl = (...args: string[]) => run('kubectl', ['--kubeconfig', join(dir, 'admin.kubeconfig'), ...args]);

async function kubeconfig(name: string, token: string): Promise<string> {
  const path = join(dir, `${name}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

beforeAll(async () => {
  await startAll().catch((error: Error) => {
    throw new Error(`${error.message}\n${Object.values(logs).join('\n')}`, { cause: error });
  });
}, 180_000);
afterAll(stopAll);

async function startAll(): Promise<void> {
  dir = await mkdtemp(join(tmpdir(), 'sagong-components-'));
  await chmod(dir, 0o700);
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  server = `https://127.0.0.1:${secure}`;
  const etcd = `http://127.0.0.1:${client}`;
  start('etcd', 'etcd', [
    '--data-dir',
    join(dir, 'etcd'),
    '--listen-client-urls',
    etcd,
    '--advertise-client-urls',
    etcd,
    '--listen-peer-urls',
    `http://127.0.0.1:${peer}`,
  ]);
  await writeFile(join(dir, 'sa.key'), privateKeyPem(generateKeyPair().privateKey), { mode: 0o600 });
  await writeFile(
    join(dir, 'tokens.csv'),
    'a,admin,1,system:masters\ns,system:kube-scheduler,2\nm,system:kube-controller-manager,3\n',
    { mode: 0o600 },
  );
  const keys = [
    '--service-account-key-file',
    'sa.key',
    '--service-account-signing-key-file',
    'sa.key',
    '--service-account-issuer',
    'https://kubernetes.default.svc',
  ];
  component(
    'kube-apiserver',
    '--etcd-servers',
    etcd,
    '--secure-port',
    String(secure),
    '--bind-address',
    '127.0.0.1',
    '--token-auth-file',
    'tokens.csv',
    '--authorization-mode',
    'Node,RBAC',
    ...keys,
  );
  await kubeconfig('admin', 'a');
  await eventually('the apiserver', async () => (await kubectl('get', '--raw', '/readyz')).stdout === 'ok', 60_000);
  // Ready means ready: what the server made for itself is there from the first answer on.
  expect(await kubectl('get', 'namespace', 'default', '-o', 'name')).toMatchObject({ stdout: 'namespace/default\n' });
  const account = 'system:serviceaccount:kube-system:node-controller';
  expect(await kubectl('auth', 'can-i', 'patch', 'nodes', '--as', account)).toMatchObject({ stdout: 'yes\n' });
  ports = { 'kube-scheduler': await freePort(), 'kube-controller-manager': await freePort() };
  component('kube-scheduler', '--kubeconfig', await kubeconfig('scheduler', 's'), ...own(ports['kube-scheduler']));
  component(
    'kube-controller-manager',
    '--kubeconfig',
    await kubeconfig('manager', 'm'),
    '--use-service-account-credentials',
    ...own(ports['kube-controller-manager']),
  );
}

async function stopAll(): Promise<void> {
  for (const child of children.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  if (dir) await rm(dir, { recursive: true, force: true });
}

describe('components as processes of their own on a real etcd', () => {
  it('elect leaders and turn a Deployment into pods that wait for a node', async () => {
    expect((await kubectl('create', 'deployment', 'web', '--image', 'example.org/web:1', '--replicas', '2')).code).toBe(0);
    await eventually('two pending pods with the reason', async () => {
      const { stdout } = await kubectl('describe', 'pods', '-l', 'app=web');
      return stdout.match(/FailedScheduling +.*no nodes available to schedule pods/g)?.length === 2;
    });
    const leases = (await kubectl('get', 'leases', '-n', 'kube-system', '-o', 'name')).stdout;
    for (const name of ['kube-scheduler', 'kube-controller-manager'])
      expect(leases).toContain(`lease.coordination.k8s.io/${name}`);
  });

  it('bind them once a node is there', async () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '10' },
        capacity: { cpu: '4', memory: '8Gi', pods: '10' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: new Date().toISOString() }],
      },
    };
    await writeFile(join(dir, 'node.json'), JSON.stringify(node));
    expect((await kubectl('create', '-f', join(dir, 'node.json'))).code).toBe(0);
    await eventually(
      'both bound',
      async () => (await kubectl('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}')).stdout === 'n n',
    );
  });

  it.each(['kube-scheduler', 'kube-controller-manager'] as const)(
    '%s tells how it is, and more to those who may know',
    async (name) => {
      const port = ports[name];
      await eventually('health', async () => (await ask(port, '/healthz')).body === 'ok');
      expect((await ask(port, '/metrics')).status).toBe(403);
      expect((await ask(port, '/metrics', 'nonsense')).status).toBe(401);
      expect((await ask(port, '/metrics', 'a')).body).toContain(`leader_election_master_status{name="${name}"} 1`);
      expect((await ask(port, '/metrics', 'a')).body).toMatch(/rest_client_requests_total\{code="200",method="GET"/);
      const configuration = JSON.parse((await ask(port, '/configz', 'a')).body) as Record<string, { kind: string }>;
      expect(Object.values(configuration)).toMatchObject([{ kind: expect.stringContaining('Configuration') as string }]);
    },
  );

  it('acts with rights of its own for every loop, and is never refused', async () => {
    const accounts = (await kubectl('get', 'serviceaccounts', '-n', 'kube-system', '-o', 'name')).stdout;
    for (const name of ['deployment-controller', 'replicaset-controller']) expect(accounts).toContain(`serviceaccount/${name}`);
    for (const child of children.splice(2)) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    const logs = await Promise.all(
      ['kube-scheduler', 'kube-controller-manager'].map((name) =>
        eventually(`${name}.log`, () => readFile(join(dir, `${name}.log`), 'utf8').then((text) => text || ' ')),
      ),
    );
    expect(logs.join('\n')).not.toMatch(/forbidden/i);
  });
});
