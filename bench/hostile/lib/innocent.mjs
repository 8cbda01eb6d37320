// The innocent: reads every 20 ms and writes every 200 ms, each on a connection of its own, one request after the other. A wait is counted from
// the moment on that the request was due, so that a server that stands still cannot hide behind requests that were never sent.
import https from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const { port, token } = workerData;
const path = '/api/v1/namespaces/innocent/configmaps/own';
const patienceMs = 30_000;
const waits = [];
let refused = 0;
let lost = 0;
let begun = 0;
let over = false;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function once(agent, method, body) {
  return new Promise((done) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' };
    const sent = https.request({ host: '127.0.0.1', port, path, method, headers, agent, timeout: patienceMs }, (response) => {
      response.resume().on('close', () => done(response.complete ? response.statusCode : 0));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => done(0));
    sent.end(body);
  });
}

async function goOn(everyMs, ask) {
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  await ask(agent);
  if (++begun === 2) parentPort.postMessage('begun');
  let due = performance.now();
  while (!over) {
    const status = await ask(agent);
    const now = performance.now();
    waits.push(now - due);
    if (status === 0) lost++;
    else if (status !== 200) refused++;
    due = Math.max(due + everyMs, now);
    await pause(Math.max(0, due - performance.now()));
    if (due < performance.now() - everyMs) due = performance.now();
  }
  agent.destroy();
}

const loops = [
  goOn(20, (agent) => once(agent, 'GET')),
  goOn(200, (agent) => once(agent, 'PATCH', JSON.stringify({ data: { at: String(performance.now()) } }))),
];

parentPort.once('message', async () => {
  over = true;
  await Promise.all(loops);
  waits.sort((a, b) => a - b);
  parentPort.postMessage({
    longestMs: waits.at(-1) ?? 0,
    p99Ms: waits[Math.floor(waits.length * 0.99)] ?? 0,
    refused,
    lost,
  });
});
