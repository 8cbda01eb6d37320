#!/usr/bin/env node
// CPU of a kube-apiserver with its durable store for each request, over TLS with a token: the time of its process from the kernel, divided by the
// requests; the client is another process. Servers of several checkouts and versions of Node run side by side and are asked in turns (A B A B), so
// that whatever else the machine does meets all of them; printed are medians, and ratios to the first.
//
//   node bench/requests.mjs [--before CHECKOUT] [--node PATH]... [--rounds 5] [--creates 2000] [--gets 8000] [--pods 10000] [--only create,get,...]
//
// `--before`: a checkout that has been built, measured beside this one. `--node`: on which Node the servers run, this one unless given.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { openLoad, requestBytes } from './lib/load.mjs';
import { podText } from './lib/pod.mjs';
import { cpuMs, median, residentMb } from './lib/process.mjs';
import { call, endCalls, pause, root, startApiServer, workshop } from './lib/servers.mjs';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    node: { type: 'string', multiple: true, default: [process.execPath] },
    rounds: { type: 'string', default: '5' },
    creates: { type: 'string', default: '2000' },
    gets: { type: 'string', default: '8000' },
    pods: { type: 'string', default: '10000' },
    lists: { type: 'string', default: '5' },
    only: { type: 'string', default: 'create,one,merge,strategic,maps,get,list,none,scan,watch' },
    flag: { type: 'string', multiple: true, default: [] },
  },
});
const rounds = Number(values.rounds);
const [creates, gets, pods, lists] = [values.creates, values.gets, values.pods, values.lists].map(Number);
const patienceMs = 60_000;

const podsPath = '/api/v1/namespaces/bench/pods';

const checkouts = [...(values.before ? [{ name: 'before', checkout: values.before }] : []), { name: 'now', checkout: root }];
const servers = [];

async function start(name, maker) {
  const own = workshop();
  const server = await startApiServer(own, maker);
  await call(server.url, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  return { name, ...server, end: () => own.end(), made: 0, patched: 0, mapped: 0 };
}

/** Does `work` over as many connections; they are new each time, because servers close idle ones. */
async function over(server, clients, work) {
  const load = await openLoad(server.port, clients);
  try {
    return await work(load);
  } finally {
    load.close();
  }
}

/** Rounds in turn over all servers; `work` answers how many requests it sent. */
async function measure(name, clients, work, { scale = 1000, unit = 'us' } = {}) {
  const costs = new Map(servers.map((server) => [server, []]));
  for (let round = 0; round < rounds; round++) {
    for (const server of servers) {
      await over(server, clients, async (load) => {
        const from = cpuMs(server.pid);
        const count = await work(server, load);
        costs.get(server).push(((cpuMs(server.pid) - from) * scale) / count);
      });
    }
  }
  const first = median(costs.get(servers[0]));
  for (const server of servers) {
    const found = costs.get(server);
    const middle = median(found);
    const range = `(${Math.min(...found).toFixed(0)} to ${Math.max(...found).toFixed(0)})`;
    console.log(
      `${name.padEnd(30)} ${server.name.padEnd(18)} ${middle.toFixed(0).padStart(6)} ${unit} ${range.padEnd(16)} ${(middle / first).toFixed(2)}`,
    );
  }
}

async function create(server, load, count, labels) {
  await load.run(count, () => requestBytes('POST', podsPath, { body: podText(`p-${server.made++}`, labels) }));
  return count;
}

const get = async (_server, load, count) => {
  await load.run(count, (at) => requestBytes('GET', `${podsPath}/p-${at % creates}`));
  return count;
};

const list = (path, count) => async (_server, load) => {
  await load.run(count, () => requestBytes('GET', path));
  return count;
};

/** Patches of pods that were created, each other than the one before. */
const patch = (type) => async (server, load) => {
  const count = creates / 2;
  const from = server.patched;
  server.patched += count;
  await load.run(count, (at) => {
    const body = JSON.stringify({ metadata: { annotations: { bench: String(from + at) } } });
    return requestBytes('PATCH', `${podsPath}/p-${at}`, { body, type });
  });
  return count;
};

/** Creates of objects with a map of a thousand keys, which stand in no order. */
async function maps(server, load) {
  const count = 100;
  const data = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key-${(at * 7919) % 1000}`, 'value']));
  const from = server.mapped;
  server.mapped += count;
  await load.run(count, (at) => {
    const body = JSON.stringify({ metadata: { name: `c-${from + at}` }, data });
    return requestBytes('POST', '/api/v1/namespaces/bench/configmaps', { body });
  });
  return count;
}

/** Creates that a hundred clients watch. The watched are deleted again, so that each round has as many. */
async function watched(server, load) {
  const count = 200;
  const path = `${podsPath}?watch=1&resourceVersion=0&labelSelector=bench%3Dwatch`;
  const watching = await openLoad(server.port, 100);
  let events = 0;
  const look = (chunk) => {
    for (let at = chunk.indexOf('"ADDED"'); at >= 0; at = chunk.indexOf('"ADDED"', at + 1)) events++;
  };
  for (const connection of watching.connections) connection.send(requestBytes('GET', path), look).catch(() => {});
  const first = server.made;
  await create(server, load, count, { bench: 'watch' });
  const deadline = performance.now() + patienceMs;
  while (events < count * 100 && performance.now() < deadline) await pause(20);
  watching.close();
  await load.run(count, (at) => requestBytes('DELETE', `${podsPath}/p-${first + at}?gracePeriodSeconds=0`));
  return count;
}

const ms = { scale: 1, unit: 'ms' };
const lines = {
  create: () => measure('create pod, 64 clients', 64, (server, load) => create(server, load, creates)),
  one: () => measure('create pod, 1 client', 1, (server, load) => create(server, load, creates / 4)),
  merge: () => measure('merge patch of a pod', 64, patch('application/merge-patch+json')),
  strategic: () => measure('strategic patch of a pod', 64, patch('application/strategic-merge-patch+json')),
  maps: () => measure('create, map of 1000 keys', 1, maps),
  get: () => measure('GET pod, 64 clients', 64, (server, load) => get(server, load, gets)),
  async list() {
    for (const server of servers)
      if (server.made < pods) await over(server, 64, (load) => create(server, load, pods - server.made));
    await measure(`LIST of ${Math.max(pods, servers[0].made)} pods`, 1, list(podsPath, lists), ms);
  },
  none: () => measure('LIST, selector matches none', 1, list(`${podsPath}?labelSelector=no%3Dne`, 200)),
  // No index answers whether there is a label at all.
  scan: () => measure('LIST, looking at each', 1, list(`${podsPath}?labelSelector=no`, 200)),
  watch: () => measure('create, 100 watchers', 64, watched),
};

const versionOf = (node) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();

try {
  for (const node of values.node)
    for (const { name, checkout } of checkouts)
      servers.push(await start(`${name}, ${versionOf(node)}`, { node, checkout, flags: values.flag }));
  // The compiler has seen everything once.
  for (const server of servers)
    await over(server, 64, async (load) => {
      await create(server, load, creates);
      await get(server, load, gets / 2);
    });
  for (const name of values.only.split(',')) await lines[name]();
  for (const { name, pid } of servers)
    console.log(`${'resident memory'.padEnd(30)} ${name.padEnd(18)} ${residentMb(pid).toFixed(0).padStart(6)} MB`);
} finally {
  for (const server of servers) await server.end();
  endCalls();
}
