// Writes per second of each store (created keys with 2.6 kB values, each acknowledged only when durable), at 1, 16 and 64 writers, and
// their ratio to a real etcd measured in the same run where one is installed. Usage: node bench/store.mjs [seconds per figure]
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadRooms } from './lib/rooms.mjs';

const contents = `export * from '#store';`;
const seconds = Number(process.argv[2] ?? 2);
const concurrencies = [1, 16, 64];
const value = Buffer.alloc(2600, 'x');

async function measure(store, concurrency, seconds) {
  const latencies = [];
  const started = performance.now();
  const deadline = started + seconds * 1000;
  let next = 0;
  const writer = async () => {
    while (performance.now() < deadline) {
      const key = `/bench/${concurrency}/${started}/${next++}`;
      const before = performance.now();
      const compare = [{ key, target: 'modRevision', result: '=', value: 0 }];
      await store.txn({ compare, success: [{ op: 'put', key, value }] });
      latencies.push(performance.now() - before);
    }
  };
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, writer));
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (q) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * q))];
  return { rate: latencies.length / elapsed, p50: quantile(0.5), p99: quantile(0.99), cpuUs: (user + system) / latencies.length };
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function startEtcd(directory) {
  const version = execFileSync('etcd', ['--version'], { encoding: 'utf8' }).split('\n')[0];
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = ['--data-dir', directory, '--listen-client-urls', client, '--advertise-client-urls', client];
  args.push('--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `default=${peer}`);
  return { version, client, child: spawn('etcd', [...args, '--log-level', 'error'], { stdio: 'ignore' }) };
}

const hasEtcd = () => {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Each case opens one store below `directory` and answers it with what ends it. */
const cases = {
  memory: async ({ openMemoryStore }) => {
    const store = openMemoryStore();
    return { store, end: () => store.close() };
  },
  disk: async ({ openDiskStore }, directory) => {
    const store = await openDiskStore({ path: join(directory, 'disk') });
    return { store, end: () => store.close() };
  },
  'disk behind the etcd front, our client': async ({ openDiskStore, openEtcdStore, serveEtcd }, directory) => {
    const embedded = await openDiskStore({ path: join(directory, 'front') });
    const front = await serveEtcd({ store: embedded });
    const store = await openEtcdStore({ endpoints: [front.endpoint] });
    const end = async () => {
      await store.close();
      await front.close();
      await embedded.close();
    };
    return { store, end };
  },
  'etcd, our client': async ({ openEtcdStore }, directory) => {
    const { version, client, child } = await startEtcd(join(directory, 'etcd'));
    const store = await openEtcdStore({ endpoints: [client] });
    const end = async () => {
      await store.close();
      child.kill('SIGTERM');
      await new Promise((done) => child.once('exit', done));
    };
    return { store, end, note: version };
  },
};
const peer = 'etcd, our client';

async function runCase(name) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-store-'));
  try {
    const { store, end, note = '' } = await cases[name](await loadRooms(contents), directory);
    await measure(store, 16, 0.3);
    const figures = [];
    for (const concurrency of concurrencies) figures.push(await measure(store, concurrency, seconds));
    await end();
    return { figures, note };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** In a process of its own, so that one case's garbage is not the next one's load. */
function runInChild(name) {
  const output = execFileSync(process.execPath, [process.argv[1], String(seconds), name], { encoding: 'utf8' });
  return JSON.parse(output);
}

function print(results) {
  for (const [name, { figures, note }] of results) {
    console.log(note ? `${name} (${note})` : name);
    for (const [i, { rate, p50, p99, cpuUs }] of figures.entries()) {
      const reference = results.get(peer)?.figures[i].rate;
      const ratio = reference && name !== peer ? `  ${(rate / reference).toFixed(1)}x etcd` : '';
      const latency = `p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms  ${cpuUs.toFixed(0)} us CPU each`;
      console.log(`  c=${String(concurrencies[i]).padEnd(3)} ${Math.round(rate).toString().padStart(7)}/s  ${latency}${ratio}`);
    }
  }
}

const only = process.argv[3];
if (only) console.log(JSON.stringify(await runCase(only)));
else {
  const names = Object.keys(cases).filter((name) => name !== peer || hasEtcd());
  print(new Map(names.map((name) => [name, runInChild(name)])));
  if (!names.includes(peer)) console.log('etcd: skipped, no etcd program on this machine');
}
