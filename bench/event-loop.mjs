// How long anything else has to wait under load: delays of the event loop while the apiserver (memory store, or --data-dir for the durable
// one) and the scheduler work in this process. A probe asks for a turn every few milliseconds; its lateness is the delay. The CPU column is
// the longest CPU time this process spent between two turns: other programs on the machine do not count in it.
//
//   node bench/event-loop.mjs [--pods 10000] [--nodes 5000] [--watchers 100] [--data-dir DIR] [--only create,list,lease,scheduler] [--src DIR]
//
// `--src DIR` measures another checkout in the same way.
import { createHistogram } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { core, everyone, loadRooms, many, ownCpuMs, startRooms } from './lib/rooms.mjs';

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '5000' },
    watchers: { type: 'string', default: '100' },
    'data-dir': { type: 'string', default: '' },
    only: { type: 'string', default: 'create,list,lease,scheduler' },
    src: { type: 'string', default: '' },
  },
});
const podCount = Number(values.pods);
const nodeCount = Number(values.nodes);
const watcherCount = Number(values.watchers);

const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { createClient } from '#client';
export { systemClock } from '#host';
export { runKubeScheduler } from '#scheduler';
export { seededRng, silentLogger } from '#utils';
`;

const rooms = await loadRooms(contents, values.src || undefined);
const clock = rooms.systemClock();
const logger = rooms.silentLogger;
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };

const probeMs = 5;
const turn = () => new Promise((done) => setTimeout(done, 0));

/** Runs `work` beside a probe; prints the lateness of its turns. */
async function measure(name, work) {
  const delays = createHistogram();
  let longestCpuMs = 0;
  let previous = performance.now();
  let previousCpu = ownCpuMs();
  const look = () => {
    const now = performance.now();
    const cpu = ownCpuMs();
    delays.record(Math.max(1, Math.round((now - previous - probeMs) * 1000)));
    longestCpuMs = Math.max(longestCpuMs, cpu - previousCpu);
    previous = now;
    previousCpu = cpu;
  };
  const probe = setInterval(look, probeMs);
  const started = performance.now();
  const note = await work();
  const seconds = (performance.now() - started) / 1000;
  await turn();
  look();
  clearInterval(probe);
  const at = (q) => (delays.percentile(q) / 1000).toFixed(1).padStart(7);
  const row = `p50 ${at(50)}  p90 ${at(90)}  p99 ${at(99)}  max ${(delays.max / 1000).toFixed(1).padStart(7)} ms  CPU ${longestCpuMs.toFixed(0).padStart(4)} ms`;
  console.log(`${name.padEnd(44)} ${row}   ${seconds.toFixed(1)} s${note ? `, ${note}` : ''}`);
}

const resources = { requests: { cpu: '100m', memory: '128Mi' } };
const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'app:1', resources }] },
});
const node = (i) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: `node-${i}`,
    labels: { 'kubernetes.io/hostname': `node-${i}`, 'topology.kubernetes.io/zone': `zone-${i % 3}` },
  },
  status: { allocatable: { cpu: '8', memory: '32Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
});

async function creates({ client }) {
  const pods = client.resource(core('pods'), 'default');
  let events = 0;
  const streams = await Promise.all(Array.from({ length: watcherCount }, () => pods.watch({ resourceVersion: '0' })));
  for (const stream of streams)
    stream.subscribe(
      () => events++,
      () => {},
    );
  await measure(`${podCount} creates, ${watcherCount} watchers`, async () => {
    await many(podCount, 64, (i) => pods.create(pod(`pod-${i}`)));
    while (events < podCount * watcherCount) await turn();
    return `${events} deliveries`;
  });
  for (const stream of streams) stream.stop();
}

async function lists({ client }) {
  const pods = client.resource(core('pods'), 'default');
  const known = (await pods.list()).items.length;
  if (known < podCount) await many(podCount - known, 64, (i) => pods.create(pod(`listed-${i}`)));
  await measure(`LIST of ${podCount} pods while writing`, async () => {
    let writing = true;
    const writer = many(Number.POSITIVE_INFINITY, 16, async (i) => {
      if (writing) await pods.create(pod(`written-${i}`));
      else throw new Error('over');
    }).catch(() => {});
    let read = 0;
    for (let i = 0; i < 20; i++) {
      read += (await pods.list()).items.length;
      await turn();
    }
    writing = false;
    await writer;
    return `${read} read`;
  });
}

async function heartbeats({ client }) {
  const resource = client.resource(leases, 'kube-node-lease');
  const held = new Map();
  const lease = (i) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: `node-${i}` },
    spec: { leaseDurationSeconds: 40 },
  });
  await many(nodeCount, 64, async (i) => held.set(i, await resource.create(lease(i))));
  await measure(`${nodeCount} nodes heartbeat, 10 s as one burst`, async () => {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const renew = async (i) =>
      resource.update({ ...held.get(i), spec: { ...held.get(i).spec, holderIdentity: `node-${i}`, renewTime } });
    await Promise.all(Array.from({ length: nodeCount }, (_, i) => renew(i)));
  });
}

async function scheduling({ server, client }) {
  const pods = client.resource(core('pods'), 'default');
  await many(nodeCount, 64, (i) => client.resource(core('nodes')).create(node(i)));
  const waiting = (await pods.list()).items.length;
  if (waiting < podCount) await many(podCount - waiting, 64, (i) => pods.create(pod(`burst-${i}`)));
  const total = (await pods.list()).items.length;
  const stream = await pods.watch({ resourceVersion: '0' });
  const placed = new Set();
  const done = new Promise((finish) => {
    const look = ({ object }) => {
      if (object.spec?.nodeName && placed.add(object.metadata.name).size === total) finish();
    };
    stream.subscribe(look, () => {});
  });
  await measure(`${total} pods onto ${nodeCount} nodes`, async () => {
    const started = performance.now();
    const client = rooms.createClient(server.transport(everyone, 'kube-scheduler'));
    const scheduler = rooms.runKubeScheduler({}, { client, clock, rng: rooms.seededRng(2), logger });
    await done;
    const rate = (total / (performance.now() - started)) * 1000;
    await scheduler.stop();
    return `${rate.toFixed(0)} bound/s`;
  });
  stream.stop();
}

const scenarios = { create: creates, list: lists, lease: heartbeats, scheduler: scheduling };
const system = await startRooms(rooms, { clock, dataDir: values['data-dir'] });
for (const name of values.only.split(',')) await scenarios[name](system);
await system.server.close();
process.exit(0);
