// How long one object of the largest size holds the thread that everybody waits for: every list and map of every built-in kind, one after the other,
// grown to about a megabyte, is created, changed, shown as a table and deleted, while a whole cluster runs in this process: control plane, cloud, a
// simulated node, name server, kube-proxy and the agent of network policies. Printed is each case whose longest turn of the event loop took more CPU
// than --over; other programs on the machine do not count in it. docs/decisions/0014-fifty-milliseconds.md says what is to be kept.
//
//   node bench/growth.mjs [--only REGEX] [--texts] [--over 50] [--inside]
//
// `--only`: matched with `Kind.path.to.field`. `--texts`: texts instead of lists and maps. `--inside`: what the longest turn of each case was spent on.
import { createSocket } from 'node:dgram';
import { openSync, readSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { fixtures, Grower, learn } from './lib/grown-objects.mjs';
import { printTurn } from './lib/print-turn.mjs';
import { loadRooms } from './lib/rooms.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    texts: { type: 'boolean', default: false },
    over: { type: 'string', default: '50' },
    inside: { type: 'boolean', default: false },
  },
});
const over = Number(values.over);
const settleMs = 400;

const contents = `
export { builtinResources, builtinSchema } from '#api';
export { parseYaml } from '#apimachinery/codec';
export { clientConfigOf, createClient, createEventRecorder, createInformerFactory, createRestTransport } from '#client';
export { runDns } from '#dns';
export { systemClock, systemRng } from '#host';
export { runKubeProxy } from '#kube-proxy';
export { runNetworkPolicy } from '#network-policy';
export { startCluster } from '#testing';
export { silentLogger } from '#utils';
`;
const rooms = await loadRooms(contents);
const deps = { clock: rooms.systemClock(), rng: rooms.systemRng(), logger: rooms.silentLogger };
const cluster = await rooms.startCluster({ ...deps, nodes: 1 });
const config = rooms.clientConfigOf(rooms.parseYaml(cluster.kubeconfig).value);

/** What runs on a node and follows what everybody writes: the name server, the proxy, network policies. Its kernel takes every rule. */
async function startAgents() {
  const client = rooms.createClient(rooms.createRestTransport({ config, clock: deps.clock, userAgent: 'growth' }));
  const informers = rooms.createInformerFactory({ ...deps, client });
  const exec = (_command, args) =>
    Promise.resolve({ code: 0, stdout: args.includes('--version') ? 'iptables v1.8.9 (nf_tables)' : '', stderr: '' });
  const recorder = rooms.createEventRecorder({ ...deps, client, component: 'kubelet', host: 'node-1' });
  const sockets = { udp: createSocket('udp4').bind(0, '127.0.0.1'), tcp: createServer().listen(0, '127.0.0.1') };
  rooms.runDns({ sockets, informers, clock: deps.clock, domain: 'cluster.local', upstreams: [] });
  await rooms.runKubeProxy({ nodeName: 'node-1', healthzPort: 0 }, { ...deps, informers, exec, recorder });
  rooms.runNetworkPolicy('node-1', { ...deps, informers, exec, recorder, seeBridgedPackets: () => Promise.resolve() });
  informers.start();
}
await startAgents();

const client = `
const { parentPort, workerData } = require('node:worker_threads');
const https = require('node:https');
const agent = new https.Agent({ keepAlive: true, ...workerData.tls });
parentPort.on('message', ({ method, path, body, contentType = 'application/json', accept = 'application/json' }) => {
  const headers = { 'content-type': contentType, accept };
  const request = https.request(workerData.url + path, { method, headers, agent }, (response) => {
    const parts = [];
    response.on('data', (chunk) => parts.push(chunk));
    response.on('end', () => parentPort.postMessage({ status: response.statusCode, text: Buffer.concat(parts).toString('utf8', 0, 200_000) }));
  });
  request.on('error', (error) => parentPort.postMessage({ status: 0, text: error.message }));
  request.end(body);
});
`;
const { ca, certificate: cert, key } = config;
const worker = new Worker(client, { eval: true, workerData: { url: cluster.url, tls: { ca, cert, key } } });
const send = (request) =>
  new Promise((done) => {
    worker.once('message', done);
    worker.postMessage({ ...request, body: request.body && JSON.stringify(request.body) });
  });

// CPU of this thread alone: collectors, compilers and the client have threads of their own.
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const read = Buffer.alloc(64);
const threadMs = () => Number(read.toString('latin1', 0, readSync(schedule, read, 0, 64, 0)).split(' ')[0]) / 1e6;
const clockUs = () => Number(process.hrtime.bigint() / 1000n);
let [before, longest, began] = [threadMs(), 0, 0];
let longestTurn = [0, 0];
const turn = () => {
  const now = threadMs();
  const at = values.inside ? clockUs() : 0;
  if (now - before > longest) {
    longest = now - before;
    longestTurn = [began, at];
  }
  [before, began] = [now, at];
  setImmediate(turn);
};
setImmediate(turn);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const session = new Session();
session.connect();
if (values.inside) await session.post('Profiler.enable');

/** The longest turn while `work` is done and its consequences are. */
async function held(label, work) {
  if (values.inside) await session.post('Profiler.start');
  await pause(5);
  longest = 0;
  const answer = await work();
  await pause(settleMs);
  const [ms, shown] = [longest, longestTurn];
  const profile = values.inside && (await session.post('Profiler.stop')).profile;
  if (ms > over) {
    const said = answer.status < 300 ? '' : (/"message":"(.{0,80})/.exec(answer.text)?.[1] ?? answer.text.slice(0, 60));
    console.log(`${ms.toFixed(0).padStart(6)} ms  ${String(answer.status).padStart(3)}  ${label}  ${said}`);
    if (profile) printTurn(profile, shown);
  }
  return answer;
}

const harmless = [{ operations: ['CREATE'], apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['nothings'] }];
/** What would stop everybody else's writes is about a group that nobody has. */
function tamed(object) {
  if (object.kind.endsWith('WebhookConfiguration')) for (const hook of object.webhooks) hook.rules = harmless;
  if (object.kind.endsWith('AdmissionPolicy')) object.spec.matchConstraints = { resourceRules: harmless };
  if (object.kind === 'Service') for (const name of ['clusterIP', 'clusterIPs']) delete object.spec[name];
  return object;
}

const grower = new Grower(rooms.builtinSchema());
const all = rooms.builtinResources();
const wanted = new RegExp(values.only);
let [cases, accepted] = [0, 0];
await send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'ns' } } });

/** One path of one kind, with different values and with equal ones. */
async function grow({ resource, fixture, collection, subresource }, path) {
  const label = `${fixture.kind}.${path.map(({ name }) => name).join('.')}`;
  if (!wanted.test(label)) return;
  const field = path.at(-1);
  const ofStatus = path[0].name === 'status';
  if (ofStatus && !subresource) return;
  const name = fixture.metadata.name;
  const one = `${collection}/${name}`;
  const base = { method: 'POST', path: collection, body: fixture };
  const sent = (object, query = '') =>
    ofStatus
      ? { method: 'PUT', path: `${one}/status${query}`, body: object }
      : { method: 'POST', path: `${collection}${query}`, body: object };
  if (ofStatus) await send(base);
  const lessons = await learn(grower, fixture, path, async (object) => {
    const { status, text } = await send(sent(object, '?dryRun=All'));
    return status < 300 ? undefined : JSON.parse(text);
  });
  for (const [kind, leaf] of grower.leaves(field)) {
    const object = grower.put(fixture, path, leaf, lessons);
    if (!object) return;
    cases++;
    const answer = await held(`${label}, ${kind}: written`, () => send(sent(object)));
    if (answer.status < 300) {
      accepted++;
      const labels = { metadata: { labels: { changed: 'yes' } } };
      await held(`${label}, ${kind}: a label changed`, () =>
        send({ method: 'PATCH', path: one, body: labels, contentType: 'application/merge-patch+json' }),
      );
      await held(`${label}, ${kind}: shown`, () =>
        send({ method: 'GET', path: collection, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
      );
      const applied = { ...object, apiVersion: fixture.apiVersion, kind: fixture.kind };
      await held(`${label}, ${kind}: applied`, () =>
        send({
          method: 'PATCH',
          path: `${one}?fieldManager=m&force=true`,
          body: applied,
          contentType: 'application/apply-patch+yaml',
        }),
      );
    }
    if (!ofStatus && !resource.protected)
      await held(`${label}, ${kind}: deleted`, () => send({ method: 'DELETE', path: one, body: { gracePeriodSeconds: 0 } }));
  }
  await send({ method: 'DELETE', path: one, body: { gracePeriodSeconds: 0 } });
}

for (const fixture of fixtures(rooms.parseYaml)) {
  const resource = all.find(
    (one) =>
      one.subresource === '' &&
      one.kind.kind === fixture.kind &&
      fixture.apiVersion === (one.group ? `${one.group}/${one.version}` : one.version),
  );
  if (!resource?.verbs.includes('create') || !resource.verbs.includes('watch')) continue;
  const { group, version, namespaced } = resource;
  const collection = `/${group ? `apis/${group}` : 'api'}/${version}${namespaced ? '/namespaces/ns' : ''}/${resource.resource}`;
  const subresource = all.some(
    (one) => one.group === group && one.version === version && one.resource === resource.resource && one.subresource === 'status',
  );
  if (fixture.kind === 'APIService') continue;
  const type = rooms.builtinSchema().kind(group, version, fixture.kind);
  for (const path of grower.paths(type.name, values.texts ? 'text' : 'list'))
    await grow({ resource, fixture: tamed(structuredClone(fixture)), collection, subresource }, path);
}
console.log(`${cases} cases, of which ${accepted} were accepted; longer than ${over} ms stands above`);
process.exit(0);
