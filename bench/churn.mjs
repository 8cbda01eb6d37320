// What one tenant can do to others in a cluster of simulated nodes that is never at rest: tenants who mean no harm read, write and scale Deployments up and
// down, first alone and then while another tenant attacks with all that its rights allow (bench/churn/attacker.mjs). Each minute it prints their waits and
// the memory of the cluster, in the end whether waits stayed within twice of without, memory was flat, every acknowledged write is there, and the process
// is the one that was started. Needs a build; the cluster has a data directory of its own, which is removed.
//
//   node bench/churn.mjs [--minutes 60] [--nodes 1000] [--tenants 5] [--replicas 20]
//
// A fifth of the minutes is without the attack.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { parse } from 'yaml';
import { Agent, request } from 'node:https';
import { pause } from './churn/client.mjs';
import { residentMb } from './lib/process.mjs';
import { root } from './lib/servers.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    nodes: { type: 'string', default: '1000' },
    tenants: { type: 'string', default: '5' },
    replicas: { type: 'string', default: '20' },
  },
});
const totalMs = Number(values.minutes) * 60_000;
const calmMs = totalMs / 5;
const printMs = Math.min(60_000, calmMs / 2);

const home = mkdtempSync(join(tmpdir(), 'sagong-churn-'));
const dataDir = join(home, 'cluster');
const port = await new Promise((done) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address();
    server.close(() => done(free));
  });
});
const args = [
  'up',
  '--data-dir',
  dataDir,
  '--port',
  String(port),
  '--nodes',
  values.nodes,
  '--runtime',
  'simulated',
  '--no-kubeconfig',
];
const child = spawn(process.execPath, [join(root, 'bin', 'sagong.mjs'), ...args], {
  stdio: ['ignore', 'ignore', 'inherit'],
  env: { ...process.env, HOME: home },
});
let exited;
child.once('exit', (code, signal) => (exited = signal ?? code));

let agent;
function adminAgent() {
  const config = parse(readFileSync(join(dataDir, 'kubeconfig'), 'utf8'));
  const pem = (text) => Buffer.from(text, 'base64');
  const { user } = config.users[0];
  const ca = pem(config.clusters[0].cluster['certificate-authority-data']);
  return new Agent({ keepAlive: true, ca, cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) });
}
const admin = (method, path, body) =>
  new Promise((done, failed) => {
    agent ??= adminAgent();
    const headers = { 'content-type': 'application/json' };
    const sent = request({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => done({ status: response.statusCode, value: text.startsWith('{') ? JSON.parse(text) : text }));
    });
    sent.on('error', failed);
    sent.end(body && JSON.stringify(body));
  });
async function until(what, attempt) {
  for (let tries = 0; tries < 600 && exited === undefined; tries++) {
    if (await attempt().catch(() => false)) return;
    await pause(500);
  }
  throw new Error(`${what}: not in time${exited === undefined ? '' : `, the cluster ended with ${exited}`}`);
}
async function make(path, body) {
  const { status, value } = await admin('POST', path, body);
  if (status > 299) throw new Error(`${path}: ${value.message ?? value}`);
  return value;
}

/** A namespace, and the token of an account that may do there what the ClusterRole `admin` may. */
async function account(namespace) {
  await make('/api/v1/namespaces', { metadata: { name: namespace } });
  const core = `/api/v1/namespaces/${namespace}`;
  await make(`${core}/serviceaccounts`, { metadata: { name: 'tenant' } });
  await make(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
  });
  const spec = { expirationSeconds: Math.ceil(totalMs / 1000) + 7_200 };
  const { status } = await make(`${core}/serviceaccounts/tenant/token`, { spec });
  return { namespace, port, token: status.token };
}

async function tenant(at) {
  const data = await account(`tenant-${at}`);
  const labels = { app: 'web' };
  await make(`/api/v1/namespaces/${data.namespace}/configmaps`, { metadata: { name: 'own' }, data: { at: '0' } });
  await make(`/apis/apps/v1/namespaces/${data.namespace}/deployments`, {
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example.org/app:1' }] } },
    },
  });
  return new Worker(new URL('./churn/tenant.mjs', import.meta.url), {
    workerData: { ...data, replicas: Number(values.replicas) },
  });
}
const ask = (worker, what) =>
  new Promise((done) => {
    worker.once('message', done);
    worker.postMessage(what);
  });
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const phases = { calm: { waits: [], memory: [] }, attack: { waits: [], memory: [] } };
let [refused, unanswered] = [0, 0];
/** One line of what tenants have seen since the last one. */
async function look(workers, phase, attacks) {
  const answers = await Promise.all(workers.map((worker) => ask(worker, 'look')));
  const waits = answers.flatMap((one) => one.waits).sort((a, b) => a - b);
  for (const one of answers) [refused, unanswered] = [refused + one.refused, unanswered + one.unanswered];
  const memory = exited === undefined ? residentMb(child.pid) : 0;
  for (const wait of waits) phases[phase].waits.push(wait);
  phases[phase].memory.push(memory);
  const ms = [0.5, 0.99, 1].map((share) => quantile(waits, share).toFixed(0).padStart(6)).join(' ');
  console.log(
    `${phase.padEnd(6)} p50, p99, longest ms ${ms}  requests ${waits.length}  memory ${memory.toFixed(0)} MB  ${attacks.join(', ')}`,
  );
}
async function follow(workers, phase, lastsMs, attacks = []) {
  const endMs = performance.now() + lastsMs;
  while (performance.now() < endMs && exited === undefined) {
    await pause(Math.min(printMs, endMs - performance.now()));
    await look(workers, phase, attacks.splice(0));
  }
}

let failed = false;
const verdict = (good, text) => {
  failed ||= !good;
  console.log(`${good ? 'ok  ' : 'FAIL'}  ${text}`);
};
try {
  await until('the cluster', async () => (await admin('GET', '/readyz')).status === 200);
  await until(
    'its nodes',
    async () => (await admin('GET', '/api/v1/nodes?limit=1')).value.metadata.remainingItemCount + 1 >= Number(values.nodes),
  );
  const pid = child.pid;
  const workers = await Promise.all(Array.from({ length: Number(values.tenants) }, (_, at) => tenant(at)));
  await pause(10_000);
  await Promise.all(workers.map((worker) => ask(worker, 'look')));
  await follow(workers, 'calm', calmMs);
  const attacks = [];
  const harm = new Worker(new URL('./churn/attacker.mjs', import.meta.url), {
    workerData: { ...(await account('attacker')), eachMs: Math.min(30_000, totalMs / 40) },
  });
  harm.on('message', (name) => attacks.push(name));
  await follow(workers, 'attack', totalMs - calmMs, attacks);
  await harm.terminate();
  const kept = await Promise.all(workers.map((worker) => ask(worker, 'stop')));
  const p99 = Object.values(phases).map(({ waits }) =>
    quantile(
      waits.toSorted((a, b) => a - b),
      0.99,
    ),
  );
  verdict(p99[1] <= 2 * p99[0], `p99 of tenants: ${p99[0].toFixed(0)} ms without the attack, ${p99[1].toFixed(0)} ms with it`);
  const half = phases.attack.memory.length >> 1;
  const [first, second] = [phases.attack.memory.slice(0, half), phases.attack.memory.slice(half)].map((all) => Math.max(...all));
  verdict(
    second <= first * 1.1,
    `memory: at most ${first.toFixed(0)} MB in the first half of the attack, ${second.toFixed(0)} MB in the second`,
  );
  verdict(
    kept.every(({ acknowledged, stored }) => stored >= acknowledged),
    `acknowledged writes are stored: ${JSON.stringify(kept)}`,
  );
  verdict(exited === undefined && child.pid === pid, 'the process is the one that was started');
  verdict(refused + unanswered === 0, `${refused} requests of tenants were refused, ${unanswered} not answered`);
} catch (error) {
  verdict(false, error.stack);
} finally {
  if (exited === undefined) {
    const gone = new Promise((done) => child.once('exit', done));
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await gone;
    clearTimeout(late);
  }
  rmSync(home, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
