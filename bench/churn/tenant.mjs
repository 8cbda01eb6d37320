// A tenant who means no harm: reads every 50 ms, writes every 250 ms and remembers what was acknowledged, and scales a Deployment up and down for ever.
// A wait is counted from the moment on that the request was due, so that a server that stands still cannot hide.
import { parentPort, workerData } from 'node:worker_threads';
import { account, mergePatch, pause } from './client.mjs';

const { namespace, port, token, replicas } = workerData;
const { send } = account({ port, token });
const own = `/api/v1/namespaces/${namespace}/configmaps/own`;
const scale = `/apis/apps/v1/namespaces/${namespace}/deployments/web/scale`;
let waits = [];
let acknowledged = 0;
let [refused, unanswered] = [0, 0];
let over = false;

async function goOn(everyMs, ask) {
  let due = performance.now();
  while (!over) {
    const status = await ask();
    waits.push(performance.now() - due);
    if (status === 0) unanswered++;
    else if (status !== 200) refused++;
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
let many = false;
async function churn() {
  while (!over) {
    many = !many;
    await send('PATCH', scale, { spec: { replicas: many ? replicas : 1 } }, mergePatch);
    await pause(5_000);
  }
}

const loops = [goOn(50, async () => (await send('GET', own)).status), goOn(250, write), churn()];

parentPort.on('message', async (what) => {
  if (what === 'stop') {
    over = true;
    await Promise.all(loops);
    const { status, text } = await send('GET', own);
    const stored = status === 200 ? Number(JSON.parse(text).data.at) : -1;
    return parentPort.postMessage({ acknowledged, stored });
  }
  parentPort.postMessage({ waits, refused, unanswered });
  [waits, refused, unanswered] = [[], 0, 0];
});
