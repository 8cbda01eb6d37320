#!/usr/bin/env node
// The same load on upstream's kube-apiserver and kube-scheduler (with an etcd) and on ours (with the embedded durable store), each a process of
// its own over TLS, one after the other in one run. Prints ratios: server and clients share the machine, absolutes mean little.
// Upstream's programs come from SAGONG_UPSTREAM_BIN (test/interop/upstream/build.sh).
//
//   SAGONG_UPSTREAM_BIN=DIR node bench/peers.mjs [--pods 5000] [--nodes 1000] [--only apiserver|scheduler]
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { call, endCalls, pause, root, startApiServer, startComponent, upstreamBin, workshop } from './lib/servers.mjs';

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '5000' }, nodes: { type: 'string', default: '1000' }, only: { type: 'string' } },
});
const podCount = Number(values.pods);
const nodeCount = Number(values.nodes);
const schedulerUser = ['kube-scheduler,system:kube-scheduler,2'];
const clientLimits = ['--kube-api-qps=10000', '--kube-api-burst=10000'];

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
    const { url } = await startApiServer(place, maker);
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
    const { url } = await startApiServer(place, apiserver, schedulerUser);
    await inParallel(nodeCount, (at) => call(url, 'POST', '/api/v1/nodes', node(at)));
    await inParallel(podCount, (at) => call(url, 'POST', '/api/v1/namespaces/default/pods', pod(at)));
    const waiting = async () => {
      const { text } = await call(url, 'GET', '/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D&resourceVersion=0');
      return JSON.parse(text).items.length;
    };
    const serving = scheduler === 'upstream' ? ['--secure-port=0'] : [];
    startComponent(place, scheduler, 'kube-scheduler', [
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
endCalls();
