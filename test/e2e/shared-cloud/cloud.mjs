// A cloud as a process of its own: HTTP on the nodes' network, JSON in and out, no name is unique. What it holds outlives every manager.
// GET /state shows it all; POST /instances adds a machine; POST /<operation> is what a provider calls.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [host, port] = [process.argv[2], Number(process.argv[3])];
const state = { instances: [], balancers: [], routes: [], calls: [] };
let count = 0;
/** Making something takes time, in which its maker may die. */
const makingMs = 300;

const operations = {
  instances: (instance) => void state.instances.push({ id: `m-${++count}`, ...instance }),
  async createBalancer(balancer) {
    await sleep(makingMs);
    const made = { id: `lb-${++count}`, address: `203.0.113.${state.balancers.length + 1}`, ...balancer };
    state.balancers.push(made);
    return made;
  },
  updateBalancer: ({ id, ...changes }) => Object.assign(state.balancers.find((one) => one.id === id) ?? {}, changes),
  deleteBalancer: ({ id }) => void (state.balancers = state.balancers.filter((one) => one.id !== id)),
  async createRoute(route) {
    await sleep(makingMs);
    state.routes.push({ id: `r-${++count}`, ...route });
  },
  deleteRoute: ({ id }) => void (state.routes = state.routes.filter((one) => one.id !== id)),
};

createServer(async (request, response) => {
  let body = '';
  try {
    for await (const chunk of request) body += chunk;
  } catch {
    // Killed while it asked.
    return;
  }
  const name = request.url.slice(1);
  if (name !== 'state') state.calls.push({ name, by: request.headers['x-replica'] ?? '', atMs: Date.now() });
  const answer = name === 'state' ? state : await operations[name](JSON.parse(body || '{}'));
  response.end(JSON.stringify(answer ?? null));
}).listen(port, host, () => console.log('listening'));
