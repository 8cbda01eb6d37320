// What one tenant can do to others in a cluster of simulated nodes that is never at rest: tenants who mean no harm read, write and scale Deployments up and
// down, first alone and then while another tenant attacks with all that its rights allow (bench/churn/attacker.mjs). Each minute it prints their waits and
// the memory of the cluster, in the end all of it by phase and by attack, and whether waits stayed within twice of without, memory was flat, every
// acknowledged write is there, and the processes are those that were started. The cluster has a folder of its own, which is removed. Ours needs a build.
//
//   node bench/churn.mjs [--minutes 60] [--nodes 1000] [--tenants 5] [--replicas 20] [--except REGEX] [--upstream DIR [--memory-mb 8000]]
//
// A fifth of the minutes is without the attack. --except: attacks that are left out, by name.
// --upstream: the same on an etcd and upstream's programs, which are in DIR (test/interop/upstream/build.sh), with the flags that kubeadm gives them and
// KWOK for nodes, which is built from its module and kept in DIR. What ends is started again as a kubelet does. One attack would take all memory of the
// machine there: each process but the etcd has --memory-mb of address space.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { pause } from './churn/client.mjs';
import { isBroken, startOurs, startUpstream } from './churn/clusters.mjs';
import { byAttack, head, line, memoryLines, summary } from './churn/report.mjs';
import { watchUsage } from './churn/usage.mjs';
import { workshop } from './lib/servers.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    nodes: { type: 'string', default: '1000' },
    tenants: { type: 'string', default: '5' },
    replicas: { type: 'string', default: '20' },
    except: { type: 'string', default: '' },
    upstream: { type: 'string' },
    'memory-mb': { type: 'string', default: '8000' },
  },
});
const totalMs = Number(values.minutes) * 60_000;
const calmMs = totalMs / 5;
const printMs = Math.min(60_000, calmMs / 2);

async function make({ admin }, path, body) {
  const { status, value } = await admin('POST', path, body);
  if (status > 299) throw new Error(`${path}: ${value.message ?? value}`);
  return value;
}

/** A namespace, and the token of an account that may do there what the ClusterRole `admin` may. */
async function account(cluster, namespace) {
  await make(cluster, '/api/v1/namespaces', { metadata: { name: namespace } });
  const core = `/api/v1/namespaces/${namespace}`;
  await make(cluster, `${core}/serviceaccounts`, { metadata: { name: 'tenant' } });
  await make(cluster, `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
  });
  const spec = { expirationSeconds: Math.ceil(totalMs / 1000) + 7_200 };
  const { status } = await make(cluster, `${core}/serviceaccounts/tenant/token`, { spec });
  return { namespace, port: cluster.port, token: status.token };
}

async function tenant(cluster, at) {
  const data = await account(cluster, `tenant-${at}`);
  const labels = { app: 'web' };
  await make(cluster, `/api/v1/namespaces/${data.namespace}/configmaps`, { metadata: { name: 'own' }, data: { at: '0' } });
  await make(cluster, `/apis/apps/v1/namespaces/${data.namespace}/deployments`, {
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

const phases = { calm: { requests: [], scalings: [], usage: [] }, attack: { requests: [], scalings: [], usage: [] } };
/** Attacks as the attacker tells of them, by when they began. */
const attacks = new Map();
/** One line for what tenants have seen since the last one, for as long as a phase lasts. */
async function follow(cluster, workers, usage, phase, lastsMs) {
  const endMs = performance.now() + lastsMs;
  const told = new Set();
  while (performance.now() < endMs && !isBroken(cluster)) {
    await pause(Math.min(printMs, endMs - performance.now()));
    const seen = await Promise.all(workers.map((worker) => ask(worker, 'look')));
    const [requests, scalings] = ['requests', 'scalings'].map((what) => seen.flatMap((one) => one[what]));
    const used = usage.take();
    for (const one of requests) phases[phase].requests.push(one);
    phases[phase].scalings.push(...scalings);
    phases[phase].usage.push(used);
    const begun = [...attacks.values()].filter((attack) => !told.has(attack.beganMs));
    for (const { beganMs } of begun) told.add(beganMs);
    console.log(
      line(phase, { requests, scalings }, `${used.most.all.toFixed(0)} MB  ${begun.map(({ name }) => name).join(', ')}`),
    );
  }
}

let failed = false;
const verdict = (good, text) => {
  failed ||= !good;
  console.log(`${good ? 'ok  ' : 'FAIL'}  ${text}`);
};
function printFigures(cluster, halves, endMs) {
  const { calm, attack } = phases;
  const inOrder = [...attacks.values()].sort((a, b) => a.beganMs - b.beganMs);
  const lines = [head, line('calm', calm), line('attack', attack), ...byAttack(inOrder, attack, endMs)];
  const columns = { calm: calm.usage, 'attack, 1st half': halves[0], '2nd half': halves[1] };
  console.log(`\n${[...lines, '', ...memoryLines(columns, cluster.members)].join('\n')}\n`);
}
function judge(cluster, halves, kept) {
  const [without, during] = [summary(phases.calm.requests), summary(phases.attack.requests)];
  const [before, after] = [without.p99, during.p99].map((ms) => ms.toFixed(0));
  verdict(during.p99 <= 2 * without.p99, `p99 of tenants: ${before} ms without the attack, ${after} ms with it`);
  const [first, second] = halves.map((half) => Math.max(...half.map(({ most }) => most.all)));
  const [most, later] = [first, second].map((mb) => mb.toFixed(0));
  verdict(second <= first * 1.1, `memory: at most ${most} MB in the first half of the attack, ${later} MB in the second`);
  const isKept = kept.every(({ acknowledged, stored }) => stored >= acknowledged);
  verdict(isKept, `acknowledged writes are stored: ${JSON.stringify(kept)}`);
  const restarts = cluster.members.reduce((sum, member) => sum + member.restarts, 0);
  verdict(!isBroken(cluster) && restarts === 0, 'the processes are those that were started');
  const [refused, unanswered] = [without.refused + during.refused, without.unanswered + during.unanswered];
  verdict(refused + unanswered === 0, `${refused} requests of tenants were refused, ${unanswered} not answered`);
}

async function run(cluster) {
  const workers = await Promise.all(Array.from({ length: Number(values.tenants) }, (_, at) => tenant(cluster, at)));
  const harmful = await account(cluster, 'attacker');
  await pause(10_000);
  await Promise.all(workers.map((worker) => ask(worker, 'look')));
  const usage = watchUsage(cluster.members);
  usage.take();
  console.log(head);
  await follow(cluster, workers, usage, 'calm', calmMs);
  const harm = new Worker(new URL('./churn/attacker.mjs', import.meta.url), {
    workerData: { ...harmful, eachMs: Math.min(30_000, totalMs / 40), except: values.except },
  });
  harm.on('message', (attack) => attack.name && attacks.set(attack.beganMs, attack));
  await follow(cluster, workers, usage, 'attack', totalMs - calmMs);
  const endMs = Date.now();
  await ask(harm, 'tell');
  await harm.terminate();
  usage.end();
  const kept = await Promise.all(workers.map((worker) => ask(worker, 'stop')));
  const half = phases.attack.usage.length >> 1;
  const halves = [phases.attack.usage.slice(0, half), phases.attack.usage.slice(half)];
  printFigures(cluster, halves, endMs);
  judge(cluster, halves, kept);
}

const place = workshop();
try {
  const nodes = Number(values.nodes);
  const { upstream, 'memory-mb': memoryMb } = values;
  await run(
    upstream === undefined
      ? await startOurs(place, nodes)
      : await startUpstream(place, nodes, resolve(upstream), Number(memoryMb)),
  );
} catch (error) {
  verdict(false, error.stack);
} finally {
  await place.end();
}
process.exit(failed ? 1 : 0);
