#!/usr/bin/env node
// One and three control planes on etcd, ours and upstream's, each apiserver with a member of its own beside it, one after the other in one run: writes and
// GETs a second, and how long nobody's write is answered when one of three fails. Clients take another apiserver when one does not answer within a second.
// Servers and clients share the machine: ratios of one run mean something, absolutes little. Upstream's program comes from SAGONG_UPSTREAM_BIN.
//
//   SAGONG_UPSTREAM_BIN=DIR node bench/ha.mjs [--writes 3000] [--reads 6000] [--only upstream|sagong]
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openLoad, requestBytes } from './lib/load.mjs';
import { call, endCalls, pause, startApiServer, startEtcd, upstreamBin, workshop } from './lib/servers.mjs';

const { values } = parseArgs({
  options: { writes: { type: 'string', default: '3000' }, reads: { type: 'string', default: '6000' }, only: { type: 'string' } },
});
const clients = 32;
const writers = 4;
const tryMs = 1_000;
const watchedMs = 12_000;
const collection = '/api/v1/namespaces/default/configmaps';
const run = promisify(execFile);
const makers = ['upstream', 'sagong'].filter((maker) => values.only === undefined || values.only === maker);

const configMap = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value: 'x'.repeat(200) } });

async function startPlanes(place, maker, count) {
  const members = await startEtcd(place, count);
  const planes = [];
  for (const member of members) {
    const start = () => startApiServer(place, maker === 'sagong' ? 'ours' : maker, [], member.client);
    planes.push({ member, start, server: await start() });
  }
  return planes;
}

/** Requests a second, over all apiservers. */
async function rate(planes, total, make) {
  const loads = await Promise.all(planes.map(({ server }) => openLoad(server.port, Math.ceil(clients / planes.length))));
  const each = Math.ceil(total / planes.length);
  const begun = performance.now();
  await Promise.all(loads.map((load, plane) => load.run(each, (at) => make(plane, at))));
  const seconds = (performance.now() - begun) / 1000;
  for (const load of loads) load.close();
  return (each * planes.length) / seconds;
}

async function rates(planes) {
  const name = (plane, at) => `rate-${plane}-${at}`;
  const write = (plane, at) => requestBytes('POST', collection, { body: JSON.stringify(configMap(name(plane, at))) });
  await rate(planes, 200, (plane, at) => write(`warm-${plane}`, at));
  const writes = await rate(planes, Number(values.writes), write);
  const written = Math.floor(Number(values.writes) / planes.length);
  const read = (plane, at) => requestBytes('GET', `${collection}/${name(plane, at % written)}`);
  return { writes, reads: await rate(planes, Number(values.reads), read) };
}

async function leaderOf(planes) {
  for (const plane of planes) {
    const { stdout } = await run('etcdctl', ['--endpoints', plane.member.client, 'endpoint', 'status', '-w', 'json'], {
      env: { ...process.env, ETCDCTL_API: '3' },
    });
    const [{ Status: status }] = JSON.parse(stdout);
    if (status.leader === status.header.member_id) return plane;
  }
  throw new Error('no member of etcd leads');
}

/** The longest time without any answered write, from a failure on. */
async function silence(planes, failed, fail) {
  let over = false;
  let last = performance.now();
  let longest = 0;
  const write = async (writer) => {
    // All begin at the one that is about to fail.
    let at = planes.indexOf(failed);
    for (let number = 0; !over; number++) {
      const body = configMap(`silence-${writer}-${number}-${Math.round(last * 1000)}`);
      const made = call(planes[at].server.url, 'POST', collection, body).then(() => true);
      const answered = await Promise.race([made.catch(() => false), pause(tryMs).then(() => false)]);
      if (answered) {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        await pause(5);
      } else {
        at = (at + 1) % planes.length;
        await pause(20);
      }
    }
  };
  const writing = Array.from({ length: writers }, (_, writer) => write(writer));
  await pause(1_000);
  longest = 0;
  last = performance.now();
  await fail();
  await pause(watchedMs);
  longest = Math.max(longest, performance.now() - last);
  over = true;
  await Promise.all(writing);
  return longest;
}

const restart = async (plane) => {
  plane.server = await plane.start();
};
const failures = {
  'an apiserver is killed': {
    fail: ({ server }) => server.child.kill('SIGKILL'),
    mend: restart,
  },
  'the leader of etcd is killed': {
    fail: ({ member }) => member.child.kill('SIGKILL'),
    mend: ({ member }) => member.start(),
  },
  'the leader of etcd is paused': {
    fail: ({ member }) => member.child.kill('SIGSTOP'),
    mend: ({ member }) => member.child.kill('SIGCONT'),
  },
  'both are killed': {
    fail: ({ member, server }) => [member, server].map(({ child }) => child.kill('SIGKILL')),
    mend: async (plane) => {
      plane.member.start();
      await restart(plane);
    },
  },
  'both are paused': {
    fail: ({ member, server }) => [member, server].map(({ child }) => child.kill('SIGSTOP')),
    mend: ({ member, server }) => [member, server].map(({ child }) => child.kill('SIGCONT')),
  },
};

async function healthy(planes) {
  for (const { server } of planes) {
    const ready = () => call(server.url, 'GET', '/readyz').catch(() => undefined);
    while ((await Promise.race([ready(), pause(tryMs)]))?.status !== 200) await pause(200);
  }
}

async function measure(maker) {
  const lines = new Map();
  for (const count of [1, 3]) {
    const place = workshop();
    try {
      const planes = await startPlanes(place, maker, count);
      const { writes, reads } = await rates(planes);
      const title = count === 1 ? 'one control plane' : 'three control planes';
      lines.set(`writes, ${title}`, [writes, '/s']).set(`GETs, ${title}`, [reads, '/s']);
      if (count === 1) continue;
      for (const [name, { fail, mend }] of Object.entries(failures)) {
        const failed = await leaderOf(planes);
        lines.set(name, [await silence(planes, failed, () => fail(failed)), ' ms']);
        await mend(failed);
        await healthy(planes);
      }
    } finally {
      await place.end();
    }
  }
  return lines;
}

if (makers.includes('upstream') && !existsSync(join(upstreamBin, 'kube-apiserver'))) {
  console.log('skipped: SAGONG_UPSTREAM_BIN names no folder with kube-apiserver');
  process.exit(0);
}
const found = new Map();
for (const maker of makers) found.set(maker, await measure(maker));
console.log(`${''.padEnd(32)}${makers.map((maker) => maker.padStart(14)).join('')}`);
for (const name of found.get(makers[0]).keys()) {
  const cells = makers.map((maker) => {
    const [value, unit] = found.get(maker).get(name);
    return `${value.toFixed(0)}${unit}`.padStart(14);
  });
  console.log(`${name.padEnd(32)}${cells.join('')}`);
}
endCalls();
