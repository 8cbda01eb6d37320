#!/usr/bin/env node
// How long a cluster takes to start, and what it weighs: from `sagong up` to the first answered /readyz (TLS, durable store open), and to two
// Ready simulated nodes with a Running pod. Median of N runs (default 10) after one that fills the code cache; each run has a fresh
// data directory. Next to it, as the unit of comparison on this machine: the start of Node itself. `--before` measures another checkout, which has been
// built, in turns with this one. CPU is that of the whole process, all its threads: other programs on the machine count less in it than in times.
//   node bench/startup.mjs [runs] [--before CHECKOUT]
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { cpuMs, median, residentMb } from './lib/process.mjs';
import { pause, root } from './lib/servers.mjs';

const { values: options, positionals } = parseArgs({ options: { before: { type: 'string' } }, allowPositionals: true });
const runs = Number(positionals[0] ?? 10);
const checkouts = { ...(options.before && { before: resolve(options.before) }), now: root };
const patienceMs = 30_000;
// The code cache is saved at the second look of the launcher.
const warmUpMs = 10_000;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

function call(agent, port, path, { method = 'GET', body } = {}) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...(body && { 'content-length': Buffer.byteLength(body) }) };
    const sent = request({ agent, host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function until(what, attempt) {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const result = await attempt().catch(() => undefined);
    if (result) return result;
    await pause(2);
  }
  throw new Error(`${what}: not within ${patienceMs / 1000} s`);
}

function adminAgent(dataDir) {
  const config = parse(readFileSync(join(dataDir, 'kubeconfig'), 'utf8'));
  const pem = (text) => Buffer.from(text, 'base64');
  const user = config.users[0].user;
  return new Agent({
    keepAlive: true,
    ca: pem(config.clusters[0].cluster['certificate-authority-data']),
    cert: pem(user['client-certificate-data']),
    key: pem(user['client-key-data']),
  });
}

const pod = JSON.stringify({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'example.org/app:1' }] } });

async function once(checkout, { settleMs = 1_000 } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'sagong-bench-'));
  const dataDir = join(home, 'cluster');
  const port = await freePort();
  const started = performance.now();
  const args = ['up', '--data-dir', dataDir, '--port', String(port), '--nodes', '2', '--runtime', 'simulated', '--no-kubeconfig'];
  const child = spawn(process.execPath, [join(checkout, 'bin', 'sagong.mjs'), ...args], {
    stdio: 'ignore',
    env: { ...process.env, HOME: home },
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  try {
    // One connection: a handshake for each look would be most of the server's work.
    const anyone = new Agent({ rejectUnauthorized: false, keepAlive: true, maxSockets: 1 });
    await until('/readyz', async () => (await call(anyone, port, '/readyz')).status === 200);
    const readyMs = performance.now() - started;
    const readyCpuMs = cpuMs(child.pid);
    const agent = await until('kubeconfig', async () => adminAgent(dataDir));
    await until(
      'default service account',
      async () => (await call(agent, port, '/api/v1/namespaces/default/pods', { method: 'POST', body: pod })).status === 201,
    );
    await until(
      'a Running pod',
      async () => JSON.parse((await call(agent, port, '/api/v1/namespaces/default/pods/p')).text).status?.phase === 'Running',
    );
    await until('two Ready nodes', async () => {
      const { items } = JSON.parse((await call(agent, port, '/api/v1/nodes')).text);
      return (
        items.filter((node) => node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
          .length === 2
      );
    });
    const runningMs = performance.now() - started;
    const runningCpuMs = cpuMs(child.pid);
    await pause(settleMs);
    return { readyMs, readyCpuMs, runningMs, runningCpuMs, memoryMb: residentMb(child.pid) };
  } finally {
    child.kill('SIGTERM');
    await exited;
    rmSync(home, { recursive: true, force: true });
  }
}

const results = new Map();
for (const [name, checkout] of Object.entries(checkouts)) {
  await once(checkout, { settleMs: warmUpMs });
  results.set(name, []);
}
for (let run = 0; run < runs; run++)
  for (const [name, checkout] of Object.entries(checkouts)) results.get(name).push(await once(checkout));
const nodeMs = median(
  Array.from({ length: 10 }, () => {
    const from = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - from;
  }),
);
const line = (what, unit, pick) => {
  for (const [name, found] of results) {
    const values = found.map(pick);
    const range = `(${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)})`;
    console.log(`${what.padEnd(48)} ${name.padEnd(8)} median ${median(values).toFixed(0).padStart(5)} ${unit}   ${range}`);
  }
};
console.log(`${runs} runs on Node ${process.version}`);
line('sagong up -> /readyz', 'ms', (one) => one.readyMs);
line('sagong up -> /readyz, CPU', 'ms', (one) => one.readyCpuMs);
line('sagong up -> 2 Ready nodes and a Running pod', 'ms', (one) => one.runningMs);
line('sagong up -> 2 Ready nodes and a Running pod, CPU', 'ms', (one) => one.runningCpuMs);
line('resident memory, idle, everything in it', 'MB', (one) => one.memoryMb);
const readyMs = median(results.get('now').map((one) => one.readyMs));
console.log(`starting Node alone: ${nodeMs.toFixed(0)} ms; /readyz is ${(readyMs / nodeMs).toFixed(1)} times that`);
