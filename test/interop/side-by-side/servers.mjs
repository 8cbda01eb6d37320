// Two apiservers side by side, upstream's and ours, with the same flags: what one answers is what the other should. Upstream's program comes from
// the folder SAGONG_UPSTREAM_BIN (see test/interop/upstream/build.sh); etcd from the PATH. Ours is the built binary.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..');
const readyTimeoutMs = 600_000;
const requestTimeoutMs = 20_000;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A server by its address and token. `call` answers `{ status, headers, text }` of anything that is asked, however odd. */
export function api(url, token = 'admin') {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 8 });
  const call = (method, path, { headers = {}, body } = {}) =>
    new Promise((done, failed) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const sent = request(
        `${url}${path}`,
        { agent, method, headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'side-by-side', ...length, ...headers } },
        (response) => {
          const chunks = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('end', () => done({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString('utf8') }));
          response.on('error', failed);
        },
      );
      sent.setTimeout(requestTimeoutMs, () => sent.destroy(new Error(`${method} ${path}: no answer`)));
      sent.on('error', failed);
      sent.end(body);
    });
  const json = async (method, path, body, type = 'application/json') => {
    const answer = await call(method, path, body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } });
    return { ...answer, body: JSON.parse(answer.text) };
  };
  const watch = (path, headers = {}) => watched(`${url}${path}`, { authorization: `Bearer ${token}`, accept: 'application/json', ...headers });
  return { url, call, json, watch, close: () => agent.destroy() };
}

/** A watch: its events as they come, each a line of JSON. `until` waits for one, `close` ends it. */
function watched(url, headers) {
  const lines = [];
  const waiting = new Set();
  let [rest, ended] = ['', ''];
  const tell = () => [...waiting].forEach((look) => look());
  const end = (why) => { ended ||= why; tell(); };
  const sent = request(url, { agent: false, rejectUnauthorized: false, headers }, (response) => {
    if (response.statusCode !== 200) end(`status ${response.statusCode}`);
    response.setEncoding('utf8').on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      lines.push(...parts);
      tell();
    });
    response.on('close', () => end('closed'));
  });
  sent.on('error', (error) => end(error.message)).end();
  const until = (wanted) =>
    new Promise((done, failed) => {
      const timer = setTimeout(() => { ended ||= 'no such event'; look(); }, requestTimeoutMs);
      const look = () => {
        const found = lines.some(wanted);
        if (!found && !ended) return;
        clearTimeout(timer);
        waiting.delete(look);
        if (found) done();
        else failed(new Error(`${url}: ${ended}`));
      };
      waiting.add(look);
      look();
    });
  return { lines, until, close: () => sent.destroy() };
}

/** Starts etcd, upstream's apiserver and ours, and waits until both are ready. `close` ends them and removes what they wrote. */
export async function startPair({ upstreamBin = process.env.SAGONG_UPSTREAM_BIN ?? '' } = {}) {
  if (upstreamBin === '') throw new Error("SAGONG_UPSTREAM_BIN names no folder with upstream's kube-apiserver (see test/interop/upstream/build.sh)");
  const dir = mkdtempSync(join(tmpdir(), 'sagong-side-by-side-'));
  const children = [];
  const start = (name, command, args) => {
    const log = openSync(join(dir, `${name}.log`), 'w');
    children.push(spawn(command, args, { cwd: dir, stdio: ['ignore', log, log] }));
  };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  writeFileSync(join(dir, 'tokens.csv'), 'admin,admin,1,"system:masters"\n');
  const flags = (port) => [
    ...[`--secure-port=${port}`, '--bind-address=127.0.0.1', '--token-auth-file=tokens.csv', '--authorization-mode=Node,RBAC'],
    ...['--service-account-key-file=sa.key', '--service-account-signing-key-file=sa.key', '--service-cluster-ip-range=10.96.0.0/16'],
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  ];
  const close = async () => {
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const [client, peer, theirs, mine] = [await freePort(), await freePort(), await freePort(), await freePort()].map(String);
    const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
    start('etcd', 'etcd', [
      ...['--data-dir=etcd', `--listen-client-urls=${clientUrl}`, `--advertise-client-urls=${clientUrl}`, `--listen-peer-urls=${peerUrl}`],
      ...[`--initial-advertise-peer-urls=${peerUrl}`, `--initial-cluster=default=${peerUrl}`, '--unsafe-no-fsync'].slice(0, 2),
    ]);
    const upstreamFlags = [`--etcd-servers=${clientUrl}`, '--cert-dir=certificates', '--endpoint-reconciler-type=none'];
    start('upstream', join(upstreamBin, 'kube-apiserver'), [...upstreamFlags, ...flags(theirs)]);
    start('sagong', process.execPath, [join(root, 'bin/sagong.mjs'), 'kube-apiserver', '--data-dir=store', ...flags(mine)]);
    const pair = { upstream: api(`https://127.0.0.1:${theirs}`), sagong: api(`https://127.0.0.1:${mine}`), dir, close };
    await Promise.all(['upstream', 'sagong'].map((name) => ready(pair[name], () => readFileSync(join(dir, `${name}.log`), 'utf8'))));
    return pair;
  } catch (error) {
    await close();
    throw error;
  }
}

async function ready(server, log) {
  const deadline = Date.now() + readyTimeoutMs;
  for (;;) {
    const answer = await server.call('GET', '/readyz').catch(() => undefined);
    if (answer?.status === 200) return;
    if (Date.now() > deadline) throw new Error(`${server.url} is not ready\n${log().slice(-3000)}`);
    await new Promise((resume) => setTimeout(resume, 200));
  }
}

/** The pair that the arguments name (`--upstream URL --sagong URL`), or one that is started; for scripts. */
export async function pairOf({ upstream, sagong }) {
  if (!upstream || !sagong) {
    const pair = await startPair();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void pair.close().finally(() => process.exit(1)));
    return pair;
  }
  return { upstream: api(upstream), sagong: api(sagong), close: async () => {} };
}
