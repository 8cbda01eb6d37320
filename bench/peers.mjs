#!/usr/bin/env node
// The same load on upstream's kube-apiserver and kube-scheduler (with an etcd) and on ours (with the embedded durable store), each a process of
// its own over TLS, one after the other in one run. Prints ratios: server and clients share the machine, absolutes mean little.
// Upstream's programs come from SAGONG_UPSTREAM_BIN (test/interop/upstream/build.sh).
//
//   SAGONG_UPSTREAM_BIN=DIR node bench/peers.mjs [--pods 5000] [--nodes 1000] [--only apiserver|scheduler]
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const binary = process.env.SAGONG_BINARY ?? join(root, 'bin', 'sagong.mjs');
const upstreamBin = process.env.SAGONG_UPSTREAM_BIN ?? '';
const { values } = parseArgs({
  options: { pods: { type: 'string', default: '5000' }, nodes: { type: 'string', default: '1000' }, only: { type: 'string' } },
});
const podCount = Number(values.pods);
const nodeCount = Number(values.nodes);
const patienceMs = 120_000;
const clientLimits = ['--kube-api-qps=10000', '--kube-api-burst=10000'];

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

const places = new Set();

/** Processes in a folder of their own; `end` stops them and removes it. */
function workshop() {
  const dir = mkdtempSync(join(tmpdir(), 'sagong-peers-'));
  const children = [];
  const place = {
    path: (name) => join(dir, name),
    run(command, args) {
      const child = spawn(command, args, { cwd: dir, stdio: 'ignore', env: { ...process.env, NODE_ENV: 'production' } });
      children.push(child);
      return child;
    },
    async end() {
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

const command = (maker, name) => (maker === 'upstream' ? [join(upstreamBin, name)] : [process.execPath, binary, name]);

function start(place, maker, name, args) {
  const [program, ...first] = command(maker, name);
  return place.run(program, [...first, ...args]);
}

async function startEtcd(place) {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [`--data-dir=${place.path('etcd')}`, `--listen-client-urls=${client}`, `--advertise-client-urls=${client}`];
  args.push(`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`, `--initial-cluster=default=${peer}`);
  place.run('etcd', [...args, '--log-level=error']);
  return client;
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await Promise.all([...places].map((place) => place.end()));
    process.exit(1);
  });

const agent = new https.Agent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false });

function call(url, method, path, object) {
  return new Promise((done, failed) => {
    const body = object === undefined ? '' : JSON.stringify(object);
    const entity = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const headers = { authorization: 'Bearer admin', accept: 'application/json', ...entity };
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

async function startApiServer(place, maker) {
  const port = await freePort();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(place.path('sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(place.path('tokens.csv'), 'admin,admin,1,system:masters\nkube-scheduler,system:kube-scheduler,2\n', {
    mode: 0o600,
  });
  const store =
    maker === 'upstream'
      ? [
          `--etcd-servers=${await startEtcd(place)}`,
          '--endpoint-reconciler-type=none',
          `--cert-dir=${place.path('certificates')}`,
        ]
      : [`--data-dir=${place.path('store')}`];
  const keys = ['--service-account-key-file=sa.key', '--service-account-signing-key-file=sa.key'];
  const access = ['--token-auth-file=tokens.csv', '--authorization-mode=RBAC'];
  start(place, maker, 'kube-apiserver', [
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
  return url;
}

function kubeconfig(place, url, token) {
  const path = place.path(`${token}.kubeconfig`);
  const certificates = { 'insecure-skip-tls-verify': true };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server: url, ...certificates } }],
    users: [{ name: 'bench', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** bench/apiserver.mjs on a running server: the rate of each of its lines. */
async function apiserverRates(maker) {
  const place = workshop();
  try {
    const url = await startApiServer(place, maker);
    const args = ['bench/apiserver.mjs', '--pods', String(podCount), '--kubeconfig', kubeconfig(place, url, 'admin')];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    for await (const chunk of child.stdout) text += chunk;
    return new Map([...text.matchAll(/^(.+?) {2,}([\d.]+)\/s/gm)].map(([, name, rate]) => [name, Number(rate)]));
  } finally {
    await place.end();
  }
}

async function inParallel(count, work) {
  let next = 0;
  const one = async () => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: 32 }, one));
}

const node = (at) => ({
  metadata: {
    name: `node-${at}`,
    labels: { 'kubernetes.io/hostname': `node-${at}`, 'topology.kubernetes.io/zone': `zone-${at % 3}` },
  },
  status: {
    capacity: { cpu: '8', memory: '32Gi', pods: '110' },
    allocatable: { cpu: '8', memory: '32Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
  },
});
const pod = (at) => ({
  metadata: { name: `pod-${at}`, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'example.org/app:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } }] },
});

/** Pods bound per second once a scheduler meets them all waiting. */
async function boundPerSecond(apiserver, scheduler) {
  const place = workshop();
  try {
    const url = await startApiServer(place, apiserver);
    await inParallel(nodeCount, (at) => call(url, 'POST', '/api/v1/nodes', node(at)));
    await inParallel(podCount, (at) => call(url, 'POST', '/api/v1/namespaces/default/pods', pod(at)));
    const waiting = async () => {
      const { text } = await call(url, 'GET', '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D&resourceVersion=0');
      return JSON.parse(text).items.length;
    };
    const serving = scheduler === 'upstream' ? ['--secure-port=0'] : [];
    start(place, scheduler, 'kube-scheduler', [
      `--kubeconfig=${kubeconfig(place, url, 'kube-scheduler')}`,
      ...clientLimits,
      ...serving,
    ]);
    while ((await waiting()) === podCount) await pause(20);
    const begun = performance.now();
    const atFirst = await waiting();
    while ((await waiting()) > 0) await pause(100);
    return atFirst / ((performance.now() - begun) / 1000);
  } finally {
    await place.end();
  }
}

const line = (name, theirs, ours) =>
  console.log(
    `${name.padEnd(40)} ${theirs.toFixed(0).padStart(8)}/s ${ours.toFixed(0).padStart(8)}/s   ${(ours / theirs).toFixed(1)}x`,
  );

if (!['kube-apiserver', 'kube-scheduler'].every((name) => existsSync(join(upstreamBin, name)))) {
  console.log('skipped: SAGONG_UPSTREAM_BIN names no folder with kube-apiserver and kube-scheduler');
  process.exit(0);
}
console.log(`${''.padEnd(40)} ${'upstream'.padStart(10)} ${'sagong'.padStart(10)}   ratio`);
if (values.only !== 'scheduler') {
  const theirs = await apiserverRates('upstream');
  const ours = await apiserverRates('sagong');
  for (const [name, rate] of theirs) if (!name.startsWith('bare')) line(name, rate, ours.get(name) ?? Number.NaN);
}
if (values.only !== 'apiserver') {
  const theirs = await boundPerSecond('upstream', 'upstream');
  line(`bound, ${nodeCount} nodes, ${podCount} pods`, theirs, await boundPerSecond('sagong', 'sagong'));
  line('  upstream scheduler on our apiserver', theirs, await boundPerSecond('sagong', 'upstream'));
}
agent.destroy();
