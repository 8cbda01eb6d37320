// Rooms of a checkout as one module, for benches that measure them in their own process, and what those benches say to an apiserver.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = resolve(fileURLToPath(import.meta.url), '..', '..', '..');

/** What `contents` exports. `src`: the checkout, which has its dependencies; this one unless given. */
export async function loadRooms(contents, src = here) {
  // Inside node_modules, so that external packages are found.
  const cache = join(resolve(src), 'node_modules', '.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(join(cache, 'bench-'));
  const outfile = join(directory, 'rooms.mjs');
  const common = { bundle: true, packages: 'external', platform: 'node', format: 'esm', conditions: ['sagong-src'] };
  try {
    await build({ ...common, stdin: { contents, resolveDir: resolve(src), loader: 'ts' }, outfile });
    return await import(outfile);
  } finally {
    await rm(directory, { recursive: true });
  }
}

export const core = (resource) => ({ group: '', version: 'v1', resource });
/** A user who may do everything. */
export const everyone = { name: 'bench', groups: ['system:masters', 'system:authenticated'] };
/** What our servers and upstream's run without in benches: nothing makes service accounts or readies nodes there. */
export const disableAdmissionPlugins = ['ServiceAccount', 'TaintNodesByCondition'];

/** Milliseconds of CPU of this process, all its threads. Other programs on the machine do not count in it. */
export const ownCpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** An apiserver of the rooms on a free port, with the memory store or with the durable one in `dataDir`, and a client over a transport in memory. */
export async function startRooms(rooms, { clock = rooms.systemClock(), rng = rooms.seededRng(1), dataDir = '', ...more } = {}) {
  const options = {
    ...rooms.defaultOptions(),
    store: { etcdServers: [], dataDir },
    bindAddress: '127.0.0.1',
    securePort: 0,
    disableAdmissionPlugins,
    ...more,
  };
  const server = await rooms.runKubeApiServer(options, { clock, rng, logger: rooms.silentLogger, alone: true });
  await server.started;
  return { server, client: rooms.createClient(server.transport(everyone, 'bench')) };
}

/** `size` loops that take the next one each. */
export async function many(count, size, one) {
  let next = 0;
  const loop = async () => {
    for (let i = next++; i < count; i = next++) await one(i);
  };
  await Promise.all(Array.from({ length: size }, loop));
}
