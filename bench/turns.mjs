// How long one request may hold the thread that everybody waits for: an apiserver (memory store) works in this process, a worker sends it
// bodies just below its limits, one at a time, and printed is the longest CPU time between two turns of the event loop. Other programs on the
// machine do not count in it. docs/decisions/0014-fifty-milliseconds.md says what is to be kept.
//
//   node bench/turns.mjs [--only REGEX] [--inside]      --inside: what the longest turn of each case was spent on
import { openSync, readSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { cases } from './lib/largest-bodies.mjs';
import { printTurn } from './lib/print-turn.mjs';
import { loadRooms, startRooms } from './lib/rooms.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, inside: { type: 'boolean', default: false } } });

const contents = `
export { defaultOptions, runKubeApiServer } from '#apiserver/app';
export { createClient } from '#client';
export { systemClock, systemRng } from '#host';
export { silentLogger } from '#utils';
`;

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

const rooms = await loadRooms(contents);
// The text of --token-auth-file: the worker comes over TLS.
const tokenFile = 'secret,admin,1,"system:masters"\n';
const { server } = await startRooms(rooms, { rng: rooms.systemRng(), tokenFile });
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
// When the longest turn was, on the clock of the profiler.
let longestTurn = [0, 0];
let turnBegan = 0;
const clockUs = () => Number(process.hrtime.bigint() / 1000n);
const turn = () => {
  const spent = cpuMs();
  const now = values.inside ? clockUs() : 0;
  if (spent > longest) {
    longest = spent;
    longestTurn = [turnBegan, now];
  }
  turnBegan = now;
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
  if (values.inside) {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  }
  await new Promise((done) => setTimeout(done, 20));
  longest = 0;
  let answer;
  for (const request of requests) answer = await send(request);
  const said = answer.status < 300 ? '' : (/"message":"(.{0,60})/.exec(answer.text)?.[1] ?? answer.text.slice(0, 60));
  const shown = longestTurn;
  console.log(`${longest.toFixed(0).padStart(6)} ms  ${String(answer.status).padStart(3)}  ${name}  ${said}`);
  if (values.inside) printTurn((await session.post('Profiler.stop')).profile, shown);
}
running = false;
await worker.terminate();
await server.close();
process.exit(0);
