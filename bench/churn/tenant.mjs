// A tenant who means no harm: reads every 50 ms, writes every 250 ms and remembers what was acknowledged, and scales a Deployment up and down every 5 s.
// A wait is counted from the moment on that the request was due, so that a server that stands still cannot hide.
import { parentPort, workerData } from 'node:worker_threads';
import { account, mergePatch, pause } from './client.mjs';

const { namespace, port, token, replicas } = workerData;
const { send } = account({ port, token });
const own = `/api/v1/namespaces/${namespace}/configmaps/own`;
const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
/** Of each request when it was due, by the machine's clock, how long it took, and the status of its answer. */
let requests = [];
let acknowledged = 0;
let over = false;

async function goOn(everyMs, ask) {
  let due = performance.now();
  while (!over) {
    const status = await ask();
    const waitMs = performance.now() - due;
    requests.push({ dueMs: Date.now() - waitMs, waitMs, status });
    due += everyMs;
    const now = performance.now();
    if (due > now) await pause(due - now);
    else due = now;
  }
}

let written = 0;
async function write() {
  const at = ++written;
  const { status } = await send('PATCH', own, { data: { at: String(at) } }, mergePatch);
  if (status === 200) acknowledged = at;
  return status;
}
/** Of each scaling when it was asked for, and whether it had been done after five seconds. */
let scalings = [];
async function churn() {
  for (let wanted = replicas; !over; wanted = wanted === 1 ? replicas : 1) {
    const dueMs = Date.now();
    await send('PATCH', `${deployment}/scale`, { spec: { replicas: wanted } }, mergePatch);
    await pause(5_000);
    const { status, text } = await send('GET', deployment);
    const seen = status === 200 ? JSON.parse(text).status : {};
    scalings.push({ dueMs, done: seen.replicas === wanted && seen.readyReplicas === wanted });
  }
}

/** What the server holds; -1: it does not say. */
async function stored() {
  for (let tries = 0; tries < 60; tries++) {
    const { status, text } = await send('GET', own);
    if (status === 200) return Number(JSON.parse(text).data.at);
    await pause(1_000);
  }
  return -1;
}

const loops = [goOn(50, async () => (await send('GET', own)).status), goOn(250, write), churn()];

parentPort.on('message', async (what) => {
  if (what === 'stop') {
    over = true;
    await Promise.all(loops);
    return parentPort.postMessage({ acknowledged, stored: await stored() });
  }
  parentPort.postMessage({ requests, scalings });
  [requests, scalings] = [[], []];
});
