// How long one request may hold the thread that everybody waits for: an apiserver (memory store) works in this process, a worker sends it
// bodies just below its limits, one at a time, and printed is the longest CPU time between two turns of the event loop. Other programs on the
// machine do not count in it. docs/decisions/0014-fifty-milliseconds.md says what is to be kept.
//
//   node bench/turns.mjs [--only REGEX] [--profile FILE]
import { openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import { cases } from './lib/largest-bodies.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, profile: { type: 'string', default: '' } } });

const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { systemClock, systemRng } from '#host';
export { openMemoryStore } from '#store';
export { silentLogger } from '#utils';
`;

/** The rooms as one module; inside node_modules so that external packages are found. */
async function load() {
  await mkdir('node_modules/.cache', { recursive: true });
  const directory = await mkdtemp(resolve('node_modules/.cache/bench-turns-'));
  const outfile = join(directory, 'rooms.mjs');
  const common = { bundle: true, packages: 'external', platform: 'node', format: 'esm', conditions: ['sagong-src'] };
  try {
    await build({ ...common, stdin: { contents, resolveDir: resolve('.'), loader: 'ts' }, outfile });
    return await import(outfile);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const client = `
const { parentPort, workerData } = require('node:worker_threads');
const https = require('node:https');
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
parentPort.on('message', ({ method = 'POST', path, body, contentType = 'application/json' }) => {
  const headers = { authorization: 'Bearer ' + workerData.token, 'content-type': contentType };
  const request = https.request({ port: workerData.port, method, path, headers, agent }, (response) => {
    let text = '';
    response.on('data', (chunk) => { if (text.length < 300) text += chunk; });
    response.on('end', () => parentPort.postMessage({ status: response.statusCode, text: text.slice(0, 300) }));
  });
  request.on('error', (error) => parentPort.postMessage({ status: 0, text: error.message }));
  request.end(body);
});
`;

const rooms = await load();
const clock = rooms.systemClock();
const scratch = await mkdtemp(join(resolve('node_modules/.cache'), 'bench-turns-data-'));
const tokens = join(scratch, 'tokens.csv');
writeFileSync(tokens, 'secret,admin,1,"system:masters"\n');
const options = {
  ...rooms.defaultOptions(),
  bindAddress: '127.0.0.1',
  securePort: 0,
  tokenFile: readFileSync(tokens, 'utf8'),
  disableAdmissionPlugins: ['ServiceAccount', 'TaintNodesByCondition'],
};
const store = rooms.openMemoryStore({ clock });
const server = await rooms.runKubeApiServer(options, { clock, rng: rooms.systemRng(), logger: rooms.silentLogger, store });
await server.started;
const worker = new Worker(client, { eval: true, workerData: { port: server.wire.port, token: 'secret' } });

let longest = 0;
let running = true;
// CPU of this thread alone: collectors and compilers have threads of their own.
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const read = Buffer.alloc(64);
const threadMs = () => Number(read.toString('latin1', 0, readSync(schedule, read, 0, 64, 0)).split(' ')[0]) / 1e6;
let before = threadMs();
const cpuMs = () => {
  const now = threadMs();
  const spent = now - before;
  before = now;
  return spent;
};
const turn = () => {
  const spent = cpuMs();
  if (spent > longest) longest = spent;
  if (running) setImmediate(turn);
};
setImmediate(turn);

const send = (request) =>
  new Promise((done) => {
    worker.once('message', done);
    worker.postMessage(request);
  });

const session = new Session();
session.connect();
await send({ method: 'GET', path: '/api' });
for (const { name, prepare = [], requests } of cases.filter((one) => new RegExp(values.only, 'i').test(one.name))) {
  for (const request of prepare) await send(request);
  // The compiler has seen the way once.
  await send(requests[0]);
  longest = 0;
  if (values.profile) {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  }
  let answer;
  for (const request of requests) answer = await send(request);
  if (values.profile) writeFileSync(values.profile, JSON.stringify((await session.post('Profiler.stop')).profile));
  const said = answer.status < 300 ? '' : (/"message":"(.{0,60})/.exec(answer.text)?.[1] ?? answer.text.slice(0, 60));
  console.log(`${longest.toFixed(0).padStart(6)} ms  ${String(answer.status).padStart(3)}  ${name}  ${said}`);
}
running = false;
await worker.terminate();
await server.close();
await store.close();
await rm(scratch, { recursive: true });
process.exit(0);
