// Servers to measure: our kube-apiserver with the embedded durable store, and upstream's (SAGONG_UPSTREAM_BIN) with an etcd, with the same
// flags, each in processes and a folder of its own.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..');
export const upstreamBin = process.env.SAGONG_UPSTREAM_BIN ?? '';
const binary = process.env.SAGONG_BINARY ?? join(root, 'bin', 'sagong.mjs');
const patienceMs = 120_000;

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

const places = new Set();

/** Processes in a folder of their own; `end` stops them and removes it. `env`: what they see beside this process' own environment. */
export function workshop(env = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'sagong-bench-'));
  const children = [];
  const place = {
    over: false,
    path: (name) => join(dir, name),
    run(command, args, stdio = 'ignore') {
      const seen = { ...process.env, NODE_ENV: 'production', ...env };
      const child = spawn(command, args, { cwd: dir, stdio, env: seen });
      children.push(child);
      return child;
    },
    async end() {
      place.over = true;
      places.delete(place);
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
  places.add(place);
  return place;
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await Promise.all([...places].map((place) => place.end()));
    process.exit(1);
  });

/** What runs a component: upstream's own program, or ours on a Node. A build of ours is `ours`, or the one in another checkout. */
function command(maker, name) {
  if (maker === 'upstream') return [join(upstreamBin, name)];
  const { node = process.execPath, checkout, flags = [] } = maker === 'ours' ? {} : maker;
  return [node, ...flags, checkout ? join(checkout, 'bin', 'sagong.mjs') : binary, name];
}

/** One of upstream's components or ours, by the same name and flags. */
export function startComponent(place, maker, name, args) {
  const [program, ...first] = command(maker, name);
  return place.run(program, [...first, ...args]);
}

/** An etcd of so many members: of each its URL for clients, its process, and what starts it again. */
export async function startEtcd(place, count = 1) {
  const url = async () => `http://127.0.0.1:${await freePort()}`;
  const members = [];
  for (let at = 0; at < count; at++) members.push({ name: `etcd-${at}`, client: await url(), peer: await url() });
  const cluster = members.map(({ name, peer }) => `${name}=${peer}`).join(',');
  for (const member of members) {
    const { name, client, peer } = member;
    const args = [`--name=${name}`, `--data-dir=${place.path(name)}`, `--listen-client-urls=${client}`];
    args.push(`--advertise-client-urls=${client}`, `--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`);
    args.push(`--initial-cluster=${cluster}`, '--log-level=error');
    member.start = () => {
      member.child = place.run('etcd', args);
    };
    member.start();
  }
  return members;
}

const agent = new https.Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });
export const endCalls = () => agent.destroy();

/** One request with a JSON body; rejects when a write is refused. */
export function call(url, method, path, object, { token = 'admin', contentType = 'application/json' } = {}) {
  return new Promise((done, failed) => {
    const body = object === undefined ? '' : JSON.stringify(object);
    const entity = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', ...entity };
    const sent = https.request(url + path, { agent, method, headers }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      if (response.statusCode >= 300 && method !== 'GET') failed(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      else done({ status: response.statusCode, text });
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

/** Resolves when it is ready. `users`: lines of the token file beside `admin`. `etcd`: a member to keep the data in, in place of a store of its own. */
export async function startApiServer(place, maker, users = [], etcd = undefined) {
  const port = await freePort();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(place.path('sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(place.path('tokens.csv'), `${['admin,admin,1,system:masters', ...users].join('\n')}\n`, { mode: 0o600 });
  const member = etcd ?? (maker === 'upstream' ? (await startEtcd(place))[0].client : undefined);
  const store = [
    member === undefined ? `--data-dir=${place.path('store')}` : `--etcd-servers=${member}`,
    ...(maker === 'upstream' ? ['--endpoint-reconciler-type=none', `--cert-dir=${place.path(`certificates-${port}`)}`] : []),
  ];
  const keys = ['--service-account-key-file=sa.key', '--service-account-signing-key-file=sa.key'];
  const access = ['--token-auth-file=tokens.csv', '--authorization-mode=RBAC'];
  const child = startComponent(place, maker, 'kube-apiserver', [
    ...[...store, ...keys, ...access, `--secure-port=${port}`],
    ...['--bind-address=127.0.0.1', '--service-account-issuer=https://kubernetes.default.svc'],
    ...['--service-cluster-ip-range=10.96.0.0/16', '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
  ]);
  const url = `https://127.0.0.1:${port}`;
  const deadline = performance.now() + patienceMs;
  while ((await call(url, 'GET', '/readyz').catch(() => undefined))?.status !== 200) {
    if (performance.now() > deadline) throw new Error(`kube-apiserver of ${maker}: not ready`);
    await pause(100);
  }
  return { url, port, pid: child.pid, child };
}
