// Upstream's clients against our streaming servers: kubectl exec, attach and port-forward over WebSocket (v5, SPDY tunnel) and over plain
// SPDY/3.1 (moby/spdystream). The server is as much of an API as kubectl asks for on the way.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  acceptPortForward,
  acceptRemoteCommand,
  createWireClient,
  isWebSocketRequest,
  pipeDuplex,
  proxyUpgrade,
  serve,
  translateRemoteCommand,
  tunnelPortForward,
  type WireRequest,
  type WireResponse,
  type WireServer,
  type WireUpgrade,
} from '#wire';

/** Newest first: kubectl speaks WebSocket by default since 1.31. */
const candidates = ['kubectl.1.36', 'kubectl.1.33', 'kubectl.1.32', 'kubectl'].flatMap((name) => [
  name,
  `/usr/lib/google-cloud-sdk/bin/${name}`,
]);
const kubectl = candidates.find((name) => spawnSync(name, ['version', '--client']).status === 0);

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
  status: { phase: 'Running' },
};
const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: 'v1',
  resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'] }],
};
const answers: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': resources,
  '/api/v1/namespaces/default/pods/p': pod,
  '/version': { major: '1', minor: '33', gitVersion: 'v1.33.1' },
};

function answer(request: WireRequest, response: WireResponse): void {
  const body = answers[request.path.split('?')[0] as string];
  response.send(
    body ? 200 : 404,
    { 'content-type': 'application/json' },
    JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', code: 404 }),
  );
}

/** `cat; exit 5`, with what it got in upper case. */
async function runCommand(upgrade: WireUpgrade): Promise<void> {
  const query = new URL(upgrade.path, 'http://x').searchParams;
  const flag = (name: string): boolean => query.get(name) === 'true';
  const session = await acceptRemoteCommand(upgrade, {
    stdin: flag('stdin'),
    stdout: flag('stdout'),
    stderr: flag('stderr'),
    tty: flag('tty'),
  });
  if (!session) return;
  session.stderr?.write('to stderr\n');
  for await (const chunk of session.stdin ?? []) session.stdout?.write(String(chunk).toUpperCase());
  session.stdout?.write(`ran ${query.getAll('command').join(' ')}\n`);
  await session.finish({ exitCode: 5 });
}

function forwardPort(upgrade: WireUpgrade, target: number): void {
  acceptPortForward(upgrade, {
    onConnection: ({ data, error }) => {
      const socket: Socket = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => data.destroy());
      socket.once('connect', () => void pipeDuplex(data as Duplex, socket).then(() => error.end()));
    },
  });
}

// kubectl keeps a discovery cache in its home.
let home = '';

async function run(args: string[], env: Record<string, string>, input?: string) {
  const child = spawn(kubectl as string, args, {
    env: { ...process.env, HOME: home, KUBECONFIG: '/dev/null', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  // A program that ends without reading says why by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code: code as number, out, err };
}

describe.skipIf(kubectl === undefined)('kubectl', () => {
  let kubelet: WireServer;
  let direct: WireServer;
  let front: WireServer;
  const seen: string[] = [];
  let targetPort = 0;
  const target = createServer(
    (socket) => void socket.on('error', () => {}).on('data', (chunk) => socket.write(String(chunk).toUpperCase())),
  );

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'kubectl-home-'));
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    targetPort = (target.address() as { port: number }).port;
    const local = (upgrade: WireUpgrade) =>
      upgrade.path.includes('/portforward') ? forwardPort(upgrade, targetPort) : runCommand(upgrade);
    const onUpgrade = (upgrade: WireUpgrade) => {
      seen.push(String(upgrade.headers['sec-websocket-protocol'] ?? upgrade.headers['x-stream-protocol-version']));
      return local(upgrade);
    };
    kubelet = await serve({ onRequest: answer, onUpgrade: local });
    direct = await serve({ onRequest: answer, onUpgrade });
    const client = createWireClient({ baseUrl: `http://127.0.0.1:${kubelet.port}` });
    front = await serve({
      onRequest: answer,
      onUpgrade: (upgrade) => {
        const to = { client, path: upgrade.path };
        if (!isWebSocketRequest(upgrade)) return proxyUpgrade(upgrade, to);
        if (upgrade.path.includes('/portforward')) return tunnelPortForward(upgrade, to);
        return translateRemoteCommand(upgrade, { ...to, options: { stdin: true, stdout: true, stderr: true, tty: false } });
      },
    });
  });
  afterAll(async () => {
    target.close();
    await rm(home, { recursive: true, force: true });
    await Promise.all([direct, front, kubelet].map((server) => server?.close({ graceMs: 0 })));
  });

  const transports = [
    ['WebSocket', 'true', 'v5.channel.k8s.io', 'SPDY/3.1+portforward.k8s.io'],
    ['SPDY', 'false', 'v4.channel.k8s.io', 'portforward.k8s.io'],
  ] as const;
  const routes = [
    ['direct', () => direct],
    ['through a proxy', () => front],
  ] as const;
  const cases = transports.flatMap((transport) => routes.map(([name, server]) => [...transport, name, server] as const));

  test.each(cases)('exec over %s (websockets=%s) %#', async (_name, flag, protocol, _tunnel, route, server) => {
    seen.length = 0;
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: flag };
    const args = ['-s', `http://127.0.0.1:${server().port}`, 'exec', '-i', 'p', '--', 'sh', '-c', 'x y'];
    const input = 'some input\n'.repeat(20_000);
    const { code, out, err } = await run(args, env, input);
    expect(err).toContain('to stderr\n');
    expect(err).toContain('command terminated with exit code 5');
    expect(out).toBe(`${input.toUpperCase()}ran sh -c x y\n`);
    expect(code).toBe(5);
    if (route === 'direct') expect(seen.at(-1)).toContain(protocol);
  });

  test.each(cases)('port-forward over %s (websockets=%s) %#', async (_name, flag, _protocol, tunnel, route, server) => {
    seen.length = 0;
    const env = { ...process.env, HOME: home, KUBECONFIG: '/dev/null', KUBECTL_PORT_FORWARD_WEBSOCKETS: flag };
    const child = spawn(kubectl as string, ['-s', `http://127.0.0.1:${server().port}`, 'port-forward', 'pod/p', ':80'], { env });
    const closed = once(child, 'close');
    try {
      let printed = '';
      child.stdout.on('data', (chunk) => (printed += String(chunk)));
      child.stderr.on('data', (chunk) => (printed += String(chunk)));
      await expect.poll(() => printed, { timeout: 20_000 }).toMatch(/Forwarding from 127\.0\.0\.1:(\d+)/);
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
      for (const payload of ['first', 'x'.repeat(200_000)]) {
        const socket = connect(port, '127.0.0.1');
        let got = '';
        socket.on('error', (error) => (got += String(error)));
        socket.on('data', (chunk) => (got += String(chunk)));
        socket.write(payload);
        await expect.poll(() => got.length, { timeout: 20_000 }).toBe(payload.length);
        expect(got).toBe(payload.toUpperCase());
        socket.destroy();
      }
      if (route === 'direct') expect(seen.at(-1)).toContain(tunnel);
    } finally {
      child.kill();
      await closed;
    }
  });
});
