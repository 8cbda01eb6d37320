// What a request of a component in the same process costs, in CPU and not in wall time: GET, create and LIST over the transport in memory, with RBAC,
// admission, validation and managed fields. `--src DIR` measures another checkout in the same way.
//
//   node bench/memory.mjs [--requests 20000] [--pods 10000] [--src DIR]
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    pods: { type: 'string', default: '10000' },
    src: { type: 'string', default: '.' },
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

/** The rooms as one module; inside node_modules so that external packages are found. */
async function load() {
  await mkdir('node_modules/.cache', { recursive: true });
  const directory = await mkdtemp(resolve('node_modules/.cache/bench-memory-'));
  const outfile = join(directory, 'rooms.mjs');
  const common = { bundle: true, packages: 'external', platform: 'node', format: 'esm', conditions: ['sagong-src'] };
  try {
    await build({ ...common, stdin: { contents, resolveDir: resolve(values.src), loader: 'ts' }, outfile });
    return await import(outfile);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const { createClient, defaultOptions, runKubeApiServer, seededRng, silentLogger, systemClock } = await load();
const server = await runKubeApiServer(
  { ...defaultOptions(), disableAdmissionPlugins: ['ServiceAccount'] },
  { clock: systemClock(), rng: seededRng(1), logger: silentLogger },
);
await server.started;
const pods = { group: '', version: 'v1', resource: 'pods' };
const admin = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };
const client = createClient(server.transport(admin, 'bench')).resource(pods, 'default');
const pod = (name) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'example.org/app:1', resources: { requests: { cpu: '100m', memory: '64Mi' } } }] },
});

const cpuMs = async (work) => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
/** Microseconds of CPU a request, the median of five rounds. */
async function each(name, count, one) {
  const rounds = [];
  for (let round = 0; round < 5; round++) {
    const ms = await cpuMs(async () => {
      for (let at = 0; at < count; at++) await one(round * count + at);
    });
    rounds.push((ms * 1000) / count);
  }
  rounds.sort((a, b) => a - b);
  console.log(`${name.padEnd(28)} ${rounds[2].toFixed(1)} us (${rounds[0].toFixed(1)} to ${rounds[4].toFixed(1)})`);
}

console.log(`Node ${process.version}`);
await each('create pod', podCount / 5, (at) => client.create(pod(`p${at}`)));
await each('get pod', requests / 5, (at) => client.get(`p${at % podCount}`));
await each(`list ${podCount} pods`, 10, () => client.list());
await each('list, selector matches none', 20, () => client.list({ labelSelector: 'app=other' }));
console.log(`resident memory ${Math.round(process.memoryUsage().rss / 1e6)} MB`);
await server.close();
process.exit(0);
