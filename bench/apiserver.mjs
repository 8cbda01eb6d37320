#!/usr/bin/env node
// Throughput and latency of the apiserver over HTTPS with a token, everything on (RBAC, admission, validation, managed fields):
// creates with 1 and 64 clients, GET, LIST of 10,000 pods, 100 watchers. Server and clients share the machine: read the ratios.
//
//   node bench/apiserver.mjs [--data-dir DIR] [--pods 10000] [--kubeconfig FILE]     (FILE: measure a server that runs already)
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { podText } from './lib/pod.mjs';

const root = resolve(fileURLToPath(import.meta.url), '..', '..');
const { values } = parseArgs({
  options: { 'data-dir': { type: 'string' }, pods: { type: 'string', default: '10000' }, kubeconfig: { type: 'string' } },
});
const pods = Number(values.pods);

async function startServer() {
  const work = mkdtempSync(join(tmpdir(), 'sagong-bench-'));
  const kubeconfig = join(work, 'kubeconfig');
  const args = ['test/interop/corpus-server.mjs', '--kubeconfig', kubeconfig];
  if (values['data-dir']) args.push('--data-dir', values['data-dir']);
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  await once(child.stdout, 'data');
  return { kubeconfig, stop: () => child.kill() };
}

/** A server over HTTPS that does nothing but answer 2.6 kB, as a process of its own: what this machine and client can do at most. */
const bareServer = `
const { createSecureServer } = require('node:http2');
const { readFileSync } = require('node:fs');
const [folder] = process.argv.slice(1);
const answer = Buffer.alloc(2600, 97);
const server = createSecureServer({ allowHTTP1: true, key: readFileSync(folder + '/key.pem'), cert: readFileSync(folder + '/cert.pem') });
server.removeAllListeners('newListener');
server.on('request', (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function startBare() {
  const folder = mkdtempSync(join(tmpdir(), 'sagong-bare-'));
  const made = spawnSync('openssl', [
    ...[
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
    ],
    ...['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')],
  ]);
  if (made.status !== 0) {
    console.log('no openssl: rates are not compared with a bare server');
    return undefined;
  }
  const child = spawn(process.execPath, ['-e', bareServer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const bareAgent = new https.Agent({ keepAlive: true, maxSockets: 256, rejectUnauthorized: false });
  return {
    base: { hostname: '127.0.0.1', port: Number(port) },
    agent: bareAgent,
    stop() {
      bareAgent.destroy();
      child.kill();
    },
  };
}

const server = values.kubeconfig ? { kubeconfig: values.kubeconfig, stop() {} } : await startServer();
const config = JSON.parse(readFileSync(server.kubeconfig, 'utf8'));
const { server: url, 'certificate-authority-data': ca } = config.clusters[0].cluster;
const { token } = config.users[0].user;
const trust = ca ? { ca: Buffer.from(ca, 'base64') } : { rejectUnauthorized: false };
const agent = new https.Agent({ keepAlive: true, maxSockets: 256, ...trust });
const target = { base: new URL(url), agent };
const bare = await startBare();

function open(method, path, body, { base, agent } = target) {
  return new Promise((resolvePromise, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'user-agent': 'bench',
      ...(body && { 'content-type': 'application/json' }),
    };
    const request = https.request({ agent, host: base.hostname, port: base.port, method, path, headers }, resolvePromise);
    request.on('error', reject);
    request.end(body);
  });
}

async function call(method, path, body, at) {
  const response = await open(method, path, body, at);
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { status: response.statusCode, bytes };
}

/** Runs `count` calls with `clients` at a time; answers the rate. `against`: a rate to compare with. */
async function measure(name, clients, count, one, against) {
  const latencies = [];
  let next = 0;
  let failed = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let at = next++; at < count; at = next++) {
        const begun = performance.now();
        const { status } = await one(at);
        latencies.push(performance.now() - begun);
        if (status >= 300) failed++;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (q) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))].toFixed(2);
  const perSecond = count / seconds;
  const ratio = against ? `   1/${(against / perSecond).toFixed(1)} of bare` : '';
  console.log(
    `${name.padEnd(34)} ${perSecond.toFixed(0).padStart(8)}/s   p50 ${at(0.5)} ms   p99 ${at(0.99)} ms${ratio}${failed ? `   ${failed} failed` : ''}`,
  );
  return perSecond;
}

/** The bare server's rate for the same request, measured right before. */
async function bareRate(name, clients, count, method, body) {
  if (!bare) return undefined;
  return measure(`bare ${name}`, clients, count, () => call(method, '/', body, bare));
}

const namespace = 'bench';
const podsPath = `/api/v1/namespaces/${namespace}/pods`;

async function watchers(count) {
  let events = 0;
  const streams = await Promise.all(
    Array.from({ length: count }, async () => {
      const stream = await open('GET', `${podsPath}?watch=1&resourceVersion=0&labelSelector=bench%3Dwatch`);
      stream.on('data', (chunk) => {
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) events++;
      });
      stream.on('error', () => {});
      return stream;
    }),
  );
  return { seen: () => events, stop: () => streams.forEach((stream) => stream.destroy()) };
}

try {
  await call('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: namespace } }));
  await call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, JSON.stringify({ metadata: { name: 'default' } }));
  await measure('warm-up', 64, 500, (at) => call('POST', podsPath, podText(`warm-${at}`)));
  const postOne = await bareRate('POST, 1 client', 1, 1000, 'POST', podText('x'));
  await measure('create pod, 1 client', 1, 1000, (at) => call('POST', podsPath, podText(`one-${at}`)), postOne);
  const postMany = await bareRate('POST, 64 clients', 64, pods, 'POST', podText('x'));
  await measure('create pod, 64 clients', 64, pods, (at) => call('POST', podsPath, podText(`many-${at}`)), postMany);
  const getOne = await bareRate('GET, 1 client', 1, 2000, 'GET');
  await measure('GET pod, 1 client', 1, 2000, () => call('GET', `${podsPath}/many-1`), getOne);
  const getMany = await bareRate('GET, 64 clients', 64, 20_000, 'GET');
  await measure('GET pod, 64 clients', 64, 20_000, (at) => call('GET', `${podsPath}/many-${at % pods}`), getMany);
  await measure(`LIST ${pods} pods, 1 client`, 1, 10, () => call('GET', podsPath));
  await measure('LIST, selector matches none', 1, 50, () => call('GET', `${podsPath}?labelSelector=no%3Dne`));
  const watching = await watchers(100);
  const created = 500;
  const begun = performance.now();
  await measure('create pod, 64 clients, 100 watchers', 64, created, (at) =>
    call('POST', podsPath, podText(`watched-${at}`).replace('"app":"web"', '"bench":"watch"')),
  );
  while (watching.seen() < created * 100 && performance.now() - begun < 30_000) await new Promise((done) => setTimeout(done, 20));
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${'deliveries to 100 watchers'.padEnd(34)} ${(watching.seen() / seconds).toFixed(0).padStart(8)}/s   ${watching.seen()} of ${created * 100}`,
  );
  watching.stop();
} finally {
  agent.destroy();
  bare?.stop();
  server.stop();
}
