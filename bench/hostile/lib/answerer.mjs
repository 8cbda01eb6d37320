// A server of somebody else's that the apiserver asks: a webhook, or another API server. It runs in a thread of its own, so that its work is not the
// attacker's loop, and answers each request with the bytes that `behaviours` has under the name it was started with.
import { readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** A certificate that names loopback, and is its own authority. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'sagong-answerer-'));
  const [key, cert, config] = [join(folder, 'key'), join(folder, 'cert'), join(folder, 'config')];
  writeFileSync(config, '[req]\ndistinguished_name=n\nx509_extensions=e\n[n]\n[e]\nsubjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const subject = ['-subj', '/CN=answerer', '-days', '2', '-nodes', '-config', config];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}

/** Resolves to where it listens, and what it is trusted by. */
export async function startAnswerer(target, behaviour) {
  const pair = certificate();
  const worker = new Worker(new URL(import.meta.url), { workerData: { ...pair, behaviour } });
  target.keep({ destroy: () => worker.terminate() });
  const port = await new Promise((done, failed) => worker.once('message', done).once('error', failed));
  return { port, url: `https://127.0.0.1:${port}`, caBundle: Buffer.from(pair.cert).toString('base64') };
}

const times = (count, each) => Array.from({ length: count }, (_, at) => each(at));
const sendJson = (response, value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
};
/** `make(uid)`: the response of an AdmissionReview, with what it says beside `allowed`. */
const review = (make) => (body, response) => {
  const { uid } = JSON.parse(body).request;
  sendJson(response, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true, ...make } });
};
const patch = (operations) =>
  review({
    patchType: 'JSONPatch',
    patch: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString('base64'),
  });
/** Writes the same for as long as it is taken. */
const endless = (piece) => (_body, response) => {
  const { socket } = response;
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  const more = () => {
    if (!socket.destroyed && socket.write(piece)) setImmediate(more);
  };
  socket.on('drain', more);
  more();
};
const raw = (text) => (_body, response) => response.socket.write(text);
const deep = (levels) => '['.repeat(levels) + ']'.repeat(levels);
const ofResources = (count) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'bad.example.com/v1',
  resources: times(count, (at) => ({ name: `r${at}`, singularName: '', namespaced: true, kind: `K${at}`, verbs: ['get'] })),
});

/** Another API server: what it says of itself is small, but for one path, where it behaves. */
const at = (prefix, behave) => (body, response, request) => {
  const path = request.url.split('?')[0];
  if (path.startsWith(prefix)) return behave(body, response, request);
  if (path === '/apis/bad.example.com/v1') return sendJson(response, ofResources(1));
  response.writeHead(404).end();
};
const things = '/apis/bad.example.com/v1/';
const listOfThings = (count) => ({
  kind: 'KList',
  apiVersion: 'bad.example.com/v1',
  metadata: { resourceVersion: '1' },
  items: thing(count),
});
const thing = (count) => times(count, (at) => ({ metadata: { name: `t${at}`, namespace: 'default', uid: `u${at}` } }));

const event = ((text) => `${text.length.toString(16)}\r\n${text}\r\n`)(
  '{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"default"}}}\n',
);
const openApi = (count, properties = 1) => ({
  swagger: '2.0',
  info: {},
  paths: Object.fromEntries(
    times(count, (at) => [`${things}p${at}`, { get: { responses: { 200: { schema: { $ref: `#/definitions/d${at}` } } } } }]),
  ),
  definitions: Object.fromEntries(
    times(count, (at) => {
      const other = { $ref: `#/definitions/d${(at + 1) % count}` };
      return [`d${at}`, { type: 'object', properties: Object.fromEntries(times(properties, (one) => [`a${one}`, other])) }];
    }),
  ),
});

const behaviours = {
  'a patch of 100,000 operations': patch(times(100_000, (at) => ({ op: 'add', path: `/data/k${at % 100}`, value: 'x' }))),
  'a patch that adds 40,000 keys': patch([
    { op: 'add', path: '/data', value: Object.fromEntries(times(40_000, (at) => [`k${at}`, 'x'])) },
  ]),
  'a patch that adds a text of 7 MB': patch([{ op: 'add', path: '/data', value: { a: 'x'.repeat(7_000_000) } }]),
  'a patch of 3,000,000 levels': patch(`[{"op":"add","path":"/data","value":${deep(3_000_000)}}]`),
  'a patch that copies its copies': patch([
    { op: 'add', path: '/data', value: { a: 'x'.repeat(1_000) } },
    ...times(60, () => ({ op: 'copy', from: '/data', path: '/data/a' })),
  ]),
  'a patch with 10,000 labels': patch([
    { op: 'add', path: '/metadata/labels', value: Object.fromEntries(times(10_000, (at) => [`k${at}`, 'x'])) },
  ]),
  'an answer of 4,000,000 levels': (_body, response) => sendJson(response, deep(4_000_000)),
  'an answer of 1,000,000 values': (_body, response) =>
    sendJson(response, `{"response":${JSON.stringify(times(1_000_000, () => 1))}}`),
  '100,000 warnings': review({ warnings: times(100_000, (at) => `warning ${at}`) }),
  '100,000 audit annotations': review({ auditAnnotations: Object.fromEntries(times(100_000, (at) => [`k${at}`, 'x'])) }),
  '100,000 causes of a refusal': review({
    allowed: false,
    status: {
      code: 403,
      message: 'm'.repeat(1_000_000),
      details: { causes: times(100_000, (at) => ({ message: `m${at}`, field: 'f' })) },
    },
  }),
  'a refusal of 9 MB': review({ allowed: false, status: { code: 403, message: '"ü\t'.repeat(1_500_000) } }),
  'a warning of 9 MB': review({ warnings: ['"ü'.repeat(2_200_000)] }),
  'a patch that does not fit, of 7 MB': patch([{ op: 'test', path: `/${'x"'.repeat(2_300_000)}`, value: 1 }]),
  'one byte a piece, without an end': endless('1\r\n \r\n'.repeat(5_000)),
  'pieces with long extensions': endless(`1;${'x'.repeat(2_000)}\r\n \r\n`.repeat(100)),
  'a body without an end': endless(`10000\r\n${' '.repeat(65_536)}\r\n`),
  'headers without an end': (_body, response) => {
    const { socket } = response;
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = () => {
      if (!socket.destroyed && socket.write(`x: ${'y'.repeat(100)}\r\n`.repeat(100))) setImmediate(more);
    };
    socket.on('drain', more);
    more();
  },
  'informational answers without an end': (_body, response) => {
    const { socket } = response;
    const more = () => {
      if (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(500))) setImmediate(more);
    };
    socket.on('drain', more);
    more();
  },
  'trailers without an end': (_body, response) => {
    const { socket } = response;
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n \r\n0\r\n');
    const more = () => {
      if (!socket.destroyed && socket.write(`x: ${'y'.repeat(100)}\r\n`.repeat(100))) setImmediate(more);
    };
    socket.on('drain', more);
    more();
  },
  'answers that nobody asked for': (_body, response) => {
    const { socket } = response;
    const more = () => {
      if (!socket.destroyed && socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'.repeat(500))) setImmediate(more);
    };
    socket.on('drain', more);
    more();
  },
  'a byte a second': (_body, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => (response.destroyed ? clearInterval(drip) : response.write(' ')), 1_000);
  },
  silence: () => {},
  'half an answer and the end': (_body, response) =>
    response.socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{'),
  'a switch of protocols': raw('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  'a redirect to itself': (_body, response) => response.writeHead(307, { location: 'https://127.0.0.1/' }).end(),
  'an error of 9 MB': (_body, response) => response.writeHead(500).end('x'.repeat(9_000_000)),
  'discovery of 15,000 resources': at('/apis/bad.example.com/v1', (_body, response) => sendJson(response, ofResources(15_000))),
  'discovery of 500,000 levels': at('/apis', (_body, response) => sendJson(response, deep(500_000))),
  'OpenAPI of 20,000 paths': at('/openapi/v2', (_body, response) => sendJson(response, openApi(20_000))),
  'OpenAPI of 560,000 values': at('/openapi/v2', (_body, response) => sendJson(response, openApi(7_000, 12))),
  'a list of 200,000 things': at(things, (_body, response) => sendJson(response, listOfThings(200_000))),
  'a list of 8,000,000 levels': at(things, (_body, response) => sendJson(response, deep(8_000_000))),
  'things, one byte a piece, without an end': at(things, endless('1\r\n \r\n'.repeat(5_000))),
  'things without an end': at(things, endless(`10000\r\n${' '.repeat(65_536)}\r\n`)),
  'events without an end': at(things, endless(event.repeat(500))),
  'things with 900 headers': at(things, (_body, response) =>
    response.socket.end(`HTTP/1.1 200 OK\r\n${times(900, (at) => `x-${at}: y\r\n`).join('')}\r\n`),
  ),
  'a switch of protocols that was not asked for': at(
    things,
    raw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ),
  'things that redirect': at(things, (_body, response) => response.writeHead(307, { location: 'https://127.0.0.1/' }).end()),
  'things that stop in the middle': at(things, raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{')),
};

/** Switches protocols, and says nothing from then on. */
function upgraded(socket) {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n');
}

if (!isMainThread && workerData?.behaviour) {
  const behave = behaviours[workerData.behaviour];
  const server = https.createServer({ key: workerData.key, cert: workerData.cert });
  const answer = (request, response) => {
    let body = '';
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('data', (data) => (body += data));
    request.on('end', () => behave(body, response, request));
  };
  server.on('request', answer);
  server.on('upgrade', (_request, socket) => upgraded(socket));
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}
