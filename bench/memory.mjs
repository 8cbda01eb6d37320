// What a request of a component in the same process costs, in CPU and not in wall time: GET, create and LIST over the transport in memory, with RBAC,
// admission, validation and managed fields. `--src DIR` measures another checkout in the same way.
//
//   node bench/memory.mjs [--requests 20000] [--pods 10000] [--src DIR]
import { parseArgs } from 'node:util';
import { core, loadRooms, ownCpuMs, startRooms } from './lib/rooms.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    pods: { type: 'string', default: '10000' },
    src: { type: 'string', default: '' },
  },
});
const requests = Number(values.requests);
const podCount = Number(values.pods);

const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { createClient } from '#client';
export { systemClock } from '#host';
export { seededRng, silentLogger } from '#utils';
`;

const { server, client } = await startRooms(await loadRooms(contents, values.src || undefined));
const pods = client.resource(core('pods'), 'default');
const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'example.org/app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
});

/** Microseconds of CPU a request, the median of five rounds. */
async function each(name, count, one) {
  const rounds = [];
  for (let round = 0; round < 5; round++) {
    const before = ownCpuMs();
    for (let at = 0; at < count; at++) await one(round * count + at);
    rounds.push(((ownCpuMs() - before) * 1000) / count);
  }
  rounds.sort((a, b) => a - b);
  console.log(`${name.padEnd(28)} ${rounds[2].toFixed(1)} us (${rounds[0].toFixed(1)} to ${rounds[4].toFixed(1)})`);
}

console.log(`Node ${process.version}`);
await each('create pod', podCount / 5, (at) => pods.create(pod(`p${at}`)));
await each('get pod', requests / 5, (at) => pods.get(`p${at % podCount}`));
await each(`list ${podCount} pods`, 10, () => pods.list());
await each('list, selector matches none', 20, () => pods.list({ labelSelector: 'app=other' }));
console.log(`resident memory ${Math.round(process.memoryUsage().rss / 1e6)} MB`);
await server.close();
process.exit(0);
