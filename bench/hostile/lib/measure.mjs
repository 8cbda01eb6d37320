// One attack on one server: starts it, lets the innocent go on beside the attack, and tells what both of them met.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { printTurn } from '../../lib/print-turn.mjs';
import { call, pause, startApiServer, workshop } from '../../lib/servers.mjs';
import { attackClients } from './clients.mjs';

const users = ['mallory,mallory,2', 'innocent,innocent,3', 'tenant,tenant,4'];
/** After this long an attack that does not end by itself is left alone. */
const attackMsMax = 90_000;
/** How long a server may take to let go of connections whose clients are gone. */
const settleMs = 5_000;
const ticksPerSecond = 100;

const statOf = (pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
const cpuMs = (pid) => ((Number(statOf(pid)[11]) + Number(statOf(pid)[12])) * 1000) / ticksPerSecond;
const memoryMb = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
const descriptors = (pid) => readdirSync(`/proc/${pid}/fd`).length;
const orMissing = (read) => {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
};

/** A namespace of that name in which the user of that name may do `rules`. */
async function own(url, name, rules) {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${name}`;
  await call(url, 'POST', '/api/v1/namespaces', { metadata: { name } });
  await call(url, 'POST', `${rbac}/roles`, { metadata: { name: 'own' }, rules });
  await call(url, 'POST', `${rbac}/rolebindings`, {
    metadata: { name: 'own' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'own' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });
}

/** The innocent writes config maps, the tenant does what it likes, each in its own namespace. */
async function settle(url) {
  await own(url, 'tenant', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  await own(url, 'innocent', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]);
  await call(url, 'POST', '/api/v1/namespaces/innocent/configmaps', { metadata: { name: 'own' }, data: { at: '' } });
}

/** The innocent in a thread of its own, so that the attacker's work does not count as the server's. Resolves when it has its first answers. */
async function startInnocent(port) {
  const worker = new Worker(new URL('./innocent.mjs', import.meta.url), { workerData: { port, token: 'innocent' } });
  await new Promise((done) => worker.once('message', done));
  return {
    async end() {
      const told = new Promise((done) => worker.once('message', done));
      worker.postMessage('end');
      const seen = await told;
      await worker.terminate();
      return seen;
    },
  };
}

async function problemsOf(server, attack, target) {
  if (server.child.exitCode !== null || server.child.signalCode !== null)
    return [`the server is gone: ${server.child.signalCode ?? `exit ${server.child.exitCode}`}`];
  const problems = [];
  const written = await target.ask('POST', '/api/v1/namespaces', { metadata: { name: 'after' } }, { token: target.adminToken });
  if (written.status !== 201) problems.push(`a write afterwards is answered ${written.status} ${written.text.slice(0, 200)}`);
  return [...problems, ...((await attack.after?.(target)) ?? [])];
}

/** The longest that the main thread of ours was held since `sinceMs`, and when that was on the profiler's clock. */
function longestHold(file, sinceMs) {
  const lines = orMissing(() => readFileSync(file, 'latin1').trim().split('\n'));
  if (!Array.isArray(lines)) return { ms: 0, turn: [0, 0] };
  const holds = lines.map((line) => line.split(' ').map(Number)).filter(([at]) => at > sinceMs);
  const [, ms, ...turn] = holds.reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0, 0, 0]);
  return { ms, turn };
}

/** Asks the server for its profile, and prints what the turn was spent on. */
async function printLongest(pid, file, turn) {
  process.kill(pid, 'SIGUSR2');
  const deadline = performance.now() + settleMs;
  while (!existsSync(file) && performance.now() < deadline) await pause(100);
  printTurn(JSON.parse(readFileSync(file, 'utf8')), turn);
}

/** `inside`: says what the longest turn of ours was spent on. */
export async function measure(maker, attack, seconds, inside = false) {
  const told = mkdtempSync(join(tmpdir(), 'sagong-holds-'));
  const holds = join(told, 'holds');
  const watchdog = new URL('./watchdog.mjs', import.meta.url).href;
  const profile = join(told, 'profile');
  const watched = {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${watchdog}`,
    SAGONG_WATCHDOG: holds,
    ...(inside && { SAGONG_WATCHDOG_PROFILE: profile }),
  };
  const place = workshop(maker === 'sagong' ? watched : {});
  try {
    const server = await startApiServer(place, maker, users);
    const { pid, port, url } = server;
    await settle(url);
    const clients = attackClients(server);
    const ends = { maker, url, host: '127.0.0.1', port, pid };
    const tokens = { token: 'mallory', tenantToken: 'tenant', adminToken: 'admin' };
    const target = { ...ends, seconds, ...tokens, ask: clients.ask, keep: clients.keep, clients };
    await attack.prepare?.(target);
    const begunMs = Date.now();
    const before = { cpu: cpuMs(pid), descriptors: descriptors(pid) };
    const innocent = await startInnocent(port);
    const failure = await Promise.race([
      Promise.resolve(attack.run(target)).then(
        () => undefined,
        (error) => `the attack failed: ${error?.stack ?? error}`,
      ),
      pause(attackMsMax).then(() => `the attack did not end within ${attackMsMax / 1000} s`),
    ]);
    const seen = await innocent.end();
    const cpu = orMissing(() => cpuMs(pid)) - before.cpu;
    clients.end();
    const deadline = performance.now() + settleMs;
    let left = orMissing(() => descriptors(pid)) - before.descriptors;
    while (left > 0 && performance.now() < deadline) {
      await pause(100);
      left = orMissing(() => descriptors(pid)) - before.descriptors;
    }
    const problems = [...(failure ? [failure] : []), ...(await problemsOf(server, attack, target))];
    const longest = maker === 'sagong' ? longestHold(holds, begunMs) : undefined;
    if (inside && longest) await printLongest(pid, profile, longest.turn);
    const holdMs = longest?.ms ?? Number.NaN;
    return { ...seen, holdMs, cpuMs: cpu, rssMb: orMissing(() => memoryMb(pid)), descriptorsLeft: Math.max(0, left), problems };
  } finally {
    await place.end();
    rmSync(told, { recursive: true });
  }
}
