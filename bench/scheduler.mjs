// The scheduler over many nodes: time of the algorithm alone per pod (plain, spread over zones, kept apart by anti-affinity), and pods bound
// per second through an apiserver on the memory store in the same process. Usage: node bench/scheduler.mjs [nodes] [pods]
import { core, everyone, loadRooms, many, startRooms } from './lib/rooms.mjs';

const nodeCount = Number(process.argv[2] ?? 5000);
const podCount = Number(process.argv[3] ?? 10_000);
const algorithmPods = 2000;

const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { createClient } from '#client';
export { systemClock } from '#host';
export { cycle, podInfoOf, profilesOf, runKubeScheduler, Snapshot } from '#scheduler';
export { seededRng, silentLogger } from '#utils';
`;

const rooms = await loadRooms(contents);
const { Snapshot, cycle, podInfoOf, profilesOf, seededRng, silentLogger, systemClock } = rooms;

const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const allocatable = { cpu: '8', memory: '32Gi', pods: '110' };
const node = (i) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `node-${i}`, labels: { [hostname]: `node-${i}`, [zone]: `zone-${i % 3}` } },
  status: { allocatable, conditions: [{ type: 'Ready', status: 'True' }] },
});
const resources = { requests: { cpu: '100m', memory: '128Mi' } };
const pod = (i, extra = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${i}`, namespace: 'default', uid: `uid-${i}`, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'app:1', resources }], schedulerName: 'default-scheduler', ...extra },
});
const labelSelector = { matchLabels: { app: 'web' } };
const spread = (topologyKey, whenUnsatisfiable) => ({ topologyKey, whenUnsatisfiable, maxSkew: 1, labelSelector });
const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector }] };
const shapes = {
  plain: {},
  'zone spread': { topologySpreadConstraints: [spread(zone, 'DoNotSchedule')] },
  'anti-affinity': { affinity: { podAntiAffinity: apart } },
  'soft host + zone spread': { topologySpreadConstraints: [spread(hostname, 'ScheduleAnyway'), spread(zone, 'ScheduleAnyway')] },
};
const empty = { get: () => undefined, list: () => [] };

/** Microseconds of CPU: other work on the machine does not count. */
function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function measureAlgorithm(extra) {
  const profile = profilesOf().get('default-scheduler');
  const snapshot = new Snapshot();
  const rng = seededRng(1);
  for (let i = 0; i < nodeCount; i++) snapshot.setNode(node(i));
  const infos = Array.from({ length: algorithmPods }, (_, i) => podInfoOf(pod(i, extra)));
  const context = { view: empty, nowMs: 0, nominated: new Map() };
  const cpu = process.cpuUsage();
  for (const info of infos) {
    const decision = cycle(snapshot, info, profile, rng, context);
    if (decision.kind !== 'chosen') throw new Error(decision.message);
    snapshot.addPod(decision.node.name, info);
  }
  return cpuSince(cpu) / algorithmPods;
}

async function measureBinding() {
  const clock = systemClock();
  const rng = seededRng(2);
  const { server, client } = await startRooms(rooms, { clock, rng });
  await many(nodeCount, 200, (i) => client.resource(core('nodes')).create(node(i)));
  const pods = client.resource(core('pods'), 'default');
  const createdAt = performance.now();
  await many(podCount, 200, (i) => pods.create({ ...pod(i), metadata: { name: `pod-${i}`, labels: { app: 'web' } } }));
  const creating = (performance.now() - createdAt) / 1000;
  const scheduler = rooms.runKubeScheduler(
    {},
    { client: rooms.createClient(server.transport(everyone, 'kube-scheduler')), clock, rng, logger: silentLogger },
  );
  const stream = await pods.watch({ resourceVersion: '0' });
  let bound = 0;
  let lastDelay = 0;
  let previous = performance.now();
  const pulse = setInterval(() => {
    const now = performance.now();
    lastDelay = Math.max(lastDelay, now - previous - 10);
    previous = now;
  }, 10);
  const seen = new Set();
  const done = new Promise((finish) => {
    stream.subscribe(
      ({ object }) => {
        if (!object.spec?.nodeName || seen.has(object.metadata.name)) return;
        seen.add(object.metadata.name);
        if (++bound === podCount) finish();
      },
      () => {},
    );
  });
  await scheduler.started;
  lastDelay = 0;
  previous = performance.now();
  const cpu = process.cpuUsage();
  const started = performance.now();
  await done;
  const seconds = (performance.now() - started) / 1000;
  const cpuUs = cpuSince(cpu) / podCount;
  clearInterval(pulse);
  stream.stop();
  await scheduler.stop();
  await server.close();
  return { creating, seconds, lastDelay, cpuUs };
}

console.log(`${nodeCount} nodes, algorithm alone, all nodes scored, ${algorithmPods} pods each:`);
for (const [name, extra] of Object.entries(shapes)) {
  measureAlgorithm(extra);
  console.log(`  ${name.padEnd(24)} ${measureAlgorithm(extra).toFixed(1).padStart(8)} us of CPU/pod`);
}
const { creating, seconds, lastDelay, cpuUs } = await measureBinding();
console.log(`${podCount} pods through apiserver and scheduler in one process:`);
console.log(`  created  ${(podCount / creating).toFixed(0).padStart(8)} pods/s`);
console.log(
  `  bound    ${(podCount / seconds).toFixed(0).padStart(8)} pods/s, ${cpuUs.toFixed(0)} us of CPU/pod, longest event-loop delay ${lastDelay.toFixed(0)} ms`,
);
process.exit(0);
