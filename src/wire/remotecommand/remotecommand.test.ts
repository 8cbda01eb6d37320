import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket as OtherWebSocket } from 'ws';
import { createCertificateAuthority, issueCertificate } from '#pki';
import {
  acceptPortForward,
  acceptRemoteCommand,
  type CommandStreamOptions,
  createWireClient,
  dialPortForward,
  dialRemoteCommand,
  dialWebSocket,
  type PortForwardOptions,
  pipeDuplex,
  proxyUpgrade,
  type RemoteCommandServerSession,
  serve,
  type TerminalSize,
  translateRemoteCommand,
  tunnelPortForward,
  UpgradeRefusedError,
  type WireClient,
  type WireServer,
  type WireUpgrade,
} from '../index.ts';
import { spdyCommandProtocols, webSocketCommandProtocols } from './protocol.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
async function start(
  onUpgrade: (upgrade: WireUpgrade) => void | Promise<void>,
): Promise<{ server: WireServer; client: WireClient; url: string }> {
  const server = await serve({ onRequest: (_request, response) => response.send(404, {}, 'no'), onUpgrade });
  const url = `http://127.0.0.1:${server.port}`;
  const client = createWireClient({ baseUrl: url });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  return { server, client, url };
}
const all: CommandStreamOptions = { stdin: true, stdout: true, stderr: true, tty: false };
/** Copies stdin to stdout, says "err" on stderr, then ends as told. */
const cat =
  (outcome: Parameters<RemoteCommandServerSession['finish']>[0], options = all) =>
  async (upgrade: WireUpgrade): Promise<void> => {
    const session = await acceptRemoteCommand(upgrade, options);
    if (!session) return;
    session.stderr?.write('err');
    if (session.stdin && session.stdout) {
      for await (const chunk of session.stdin) if (!session.stdout.write(chunk)) await once(session.stdout, 'drain');
    }
    await session.finish(outcome);
  };
async function text(stream: AsyncIterable<unknown> | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
/** A TCP server that answers each byte string with its upper case, after the client's end. */
async function upper(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const all: Buffer[] = [];
    for await (const chunk of socket.iterator({ destroyOnReturn: false })) all.push(chunk as Buffer);
    socket.end(Buffer.concat(all).toString().toUpperCase());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return (server.address() as { port: number }).port;
}
const forward: PortForwardOptions['onConnection'] = ({ port, data, error }) => {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.once('error', (cause: Error) => {
    error.end(`failed to connect: ${cause.message}`);
    data.end();
  });
  socket.once('connect', () => void pipeDuplex(data as Duplex, socket).then(() => error.end()));
};

describe('exec', () => {
  const forms = [...spdyCommandProtocols.map((name) => ['spdy', name] as const), ['websocket', 'v5.channel.k8s.io'] as const];
  test.each(forms)('%s %s: input, output, end of input and exit code', async (transport, protocol) => {
    const { client } = await start(cat({ exitCode: 3 }));
    const session = await dialRemoteCommand(client, { path: '/exec', ...all, transport, protocols: [protocol] });
    expect(session.protocol).toBe(protocol);
    session.stdin?.end('hello');
    const [out, err, outcome] = await Promise.all([text(session.stdout), text(session.stderr), session.outcome()]);
    expect([out, err]).toEqual(['hello', 'err']);
    expect(outcome).toEqual(
      protocol.startsWith('v4') || protocol.startsWith('v5')
        ? { exitCode: 3, message: 'command terminated with non-zero exit code: exit status 3' }
        : { error: 'command terminated with non-zero exit code: exit status 3' },
    );
    await session.closed;
  });

  test.each(webSocketCommandProtocols)('websocket %s without input', async (protocol) => {
    const options = { ...all, stdin: false };
    const { client } = await start(cat({ exitCode: 0 }, options));
    const session = await dialRemoteCommand(client, { path: '/', ...options, transport: 'websocket', protocols: [protocol] });
    expect(await Promise.all([text(session.stdout), text(session.stderr), session.outcome()])).toEqual([
      '',
      'err',
      { exitCode: 0 },
    ]);
  });

  test.each(['spdy', 'websocket'] as const)(
    '%s: terminal sizes, no stderr with a terminal, errors of the machinery',
    async (transport) => {
      const sizes: TerminalSize[] = [];
      const options = { ...all, tty: true };
      const { client } = await start(async (upgrade) => {
        const session = await acceptRemoteCommand(upgrade, options);
        expect(session?.stderr).toBeUndefined();
        session?.onResize((size) => sizes.push(size));
        await text(session?.stdin);
        await session?.finish({ error: 'container not running' });
      });
      const session = await dialRemoteCommand(client, { path: '/', ...options, transport });
      session.resize({ width: 100, height: 40 });
      session.resize({ width: 80, height: 24 });
      await expect
        .poll(() => sizes)
        .toEqual([
          { width: 100, height: 40 },
          { width: 80, height: 24 },
        ]);
      session.stdin?.end();
      expect(await session.outcome()).toEqual({ error: 'Internal error occurred: container not running' });
    },
  );

  test.each(['spdy', 'websocket'] as const)('%s: a large stream arrives whole while its reader dawdles', async (transport) => {
    const total = 24 * 2 ** 20;
    let sent = 0;
    const { client } = await start(async (upgrade) => {
      const session = await acceptRemoteCommand(upgrade, { ...all, stdin: false });
      const chunk = Buffer.alloc(2 ** 16);
      for (; sent < total; sent += chunk.length) {
        chunk.writeUInt32BE(sent);
        if (session?.stdout && !session.stdout.write(Buffer.from(chunk))) await once(session.stdout, 'drain');
      }
      await session?.finish({ exitCode: 0 });
    });
    const session = await dialRemoteCommand(client, { path: '/', ...all, stdin: false, transport });
    session.stderr?.resume();
    session.stdout?.pause();
    session.stdout?.read(0);
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    // Held back by what the kernel and the streams buffer, not by the size of memory.
    expect(sent).toBeLessThan(total);
    let at = 0;
    for await (const chunk of session.stdout ?? []) {
      const first = Math.ceil(at / 2 ** 16) * 2 ** 16;
      if (first - at + 4 <= (chunk as Buffer).length) expect((chunk as Buffer).readUInt32BE(first - at)).toBe(first);
      at += (chunk as Buffer).length;
    }
    expect(at).toBe(total);
    expect(await session.outcome()).toEqual({ exitCode: 0 });
  });

  test.each(['spdy', 'websocket'] as const)('%s: the server learns that its client is gone', async (transport) => {
    let gone: Promise<unknown> | undefined;
    let input: Promise<string> | undefined;
    const { client } = await start(async (upgrade) => {
      const session = await acceptRemoteCommand(upgrade, all);
      gone = session && once(session.signal, 'abort');
      input = text(session?.stdin);
    });
    const session = await dialRemoteCommand(client, { path: '/', ...all, transport });
    session.stdin?.write('partial');
    await expect.poll(() => input !== undefined).toBe(true);
    session.close();
    await gone;
    expect(await input).toBe('partial');
  });

  test('refusals are ordinary responses', async () => {
    const { client } = await start(async (upgrade) => {
      if (upgrade.path === '/denied')
        return upgrade.reject(403, { 'content-type': 'application/json' }, '{"reason":"Forbidden"}');
      await acceptRemoteCommand(upgrade, all);
    });
    const dial = (path: string, transport: 'spdy' | 'websocket', protocol: string) =>
      dialRemoteCommand(client, { path, ...all, transport, protocols: [protocol] });
    const refusal = await dial('/denied', 'spdy', 'v4.channel.k8s.io').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UpgradeRefusedError);
    expect(refusal).toMatchObject({ status: 403, body: Buffer.from('{"reason":"Forbidden"}') });
    await expect(dial('/', 'spdy', 'v9.channel.k8s.io')).rejects.toMatchObject({
      status: 403,
      headers: { 'x-accepted-stream-protocol-versions': spdyCommandProtocols.join(', ') },
    });
    await expect(dial('/', 'websocket', 'v9.channel.k8s.io')).rejects.toMatchObject({ status: 403 });
    await expect(client.upgrade({ path: '/', headers: { connection: 'Upgrade', upgrade: 'other' } })).rejects.toMatchObject({
      status: 400,
    });
  });
});

test.each(['spdy', 'websocket'] as const)('%s over TLS, with the client’s certificate', async (transport) => {
  const ca = createCertificateAuthority({ commonName: 'test' });
  const issue = (commonName: string) =>
    issueCertificate({ ca, commonName, ips: ['127.0.0.1'], usages: ['server auth', 'client auth'] });
  let peer: string | undefined;
  const server = await serve({
    tls: { ...issue('server'), ca: ca.cert, requestClientCert: true },
    onRequest: (_request, response) => response.send(404, {}, ''),
    onUpgrade(upgrade) {
      peer = upgrade.peerCertificate?.subject.commonName;
      return cat({ exitCode: 0 })(upgrade);
    },
  });
  const client = createWireClient({
    baseUrl: `https://127.0.0.1:${server.port}`,
    tls: { ca: ca.cert, ...issue('alice') },
    protocol: 'h2',
  });
  cleanups.push(
    () => server.close({ graceMs: 0 }),
    () => client.close(),
  );
  const session = await dialRemoteCommand(client, { path: '/exec', ...all, transport });
  session.stdin?.end('y'.repeat(300_000));
  expect((await text(session.stdout)).length).toBe(300_000);
  expect([await session.outcome(), peer]).toEqual([{ exitCode: 0 }, 'alice']);
});

describe('an independent WebSocket implementation', () => {
  test('as client: v4 channels', async () => {
    const { url } = await start(cat({ exitCode: 2 }, { ...all, stdin: false }));
    const socket = new OtherWebSocket(url.replace('http', 'ws'), ['v4.channel.k8s.io']);
    const messages: Buffer[] = [];
    socket.on('message', (data) => messages.push(data as Buffer));
    const [code] = await once(socket, 'close');
    expect(code).toBe(1000);
    expect(messages[0]).toEqual(Buffer.from([1]));
    expect(messages[1]).toEqual(Buffer.from('\u0002err'));
    expect(JSON.parse(messages[2]?.toString('utf8', 1) ?? '')).toMatchObject({
      reason: 'NonZeroExitCode',
      details: { causes: [{ message: '2' }] },
    });
  });

  test('as server: fragments, pings, large messages, close', async () => {
    const { WebSocketServer } = await import('ws');
    const other = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    cleanups.push(() => other.close());
    await once(other, 'listening');
    const received: string[] = [];
    other.on('connection', (socket) => {
      socket.on('message', (data) => {
        received.push(String(data));
        socket.ping();
        socket.send('frag', { fin: false });
        socket.send('ments', { fin: true });
        socket.send(Buffer.alloc(100_000, 'x'));
      });
      socket.once('pong', () => socket.close(4001, 'enough'));
    });
    const { port } = other.address() as { port: number };
    const connection = await dialWebSocket(createWireClient({ baseUrl: `http://127.0.0.1:${port}` }), { path: '/' });
    const messages: string[] = [];
    let whole = '';
    connection.on('part', ({ data, binary, begins, ends }) => {
      whole = begins ? data.toString() : whole + data.toString();
      if (ends) messages.push(`${binary}:${whole.length}:${whole.slice(0, 9)}`);
    });
    connection.send(Buffer.from('hello'), false);
    expect(await once(connection, 'close')).toEqual([4001, 'enough']);
    expect(received).toEqual(['hello']);
    expect(messages).toEqual(['false:9:fragments', 'true:100000:xxxxxxxxx']);
  });
});

describe('between a client and a backend', () => {
  test.each(['spdy', 'websocket'] as const)('raw: %s passes through, refusals too', async (transport) => {
    const backend = await start(async (upgrade) => {
      if (upgrade.path !== '/backend') return upgrade.reject(404, {}, `no ${upgrade.headers.authorization ?? 'credentials'}`);
      await cat({ exitCode: 0 })(upgrade);
    });
    const front = await start((upgrade) =>
      proxyUpgrade(upgrade, { client: backend.client, path: upgrade.path.replace('/front', '/backend') }),
    );
    const session = await dialRemoteCommand(front.client, { path: '/front', ...all, transport });
    session.stdin?.end('x'.repeat(500_000));
    const [out, outcome] = await Promise.all([text(session.stdout), session.outcome()]);
    expect([out.length, outcome]).toEqual([500_000, { exitCode: 0 }]);
    await session.closed;
    const headers = { authorization: 'Bearer secret' };
    await expect(dialRemoteCommand(front.client, { path: '/other', headers, ...all, transport })).rejects.toMatchObject({
      status: 404,
      body: Buffer.from('no credentials'),
    });
    await expect.poll(() => [front.server.connections, backend.server.connections]).toEqual([0, 0]);
  });

  test('a backend that cannot be reached is 502', async () => {
    const front = await start((upgrade) =>
      proxyUpgrade(upgrade, { client: createWireClient({ baseUrl: 'http://127.0.0.1:1' }), path: '/' }),
    );
    await expect(dialRemoteCommand(front.client, { path: '/', ...all, transport: 'spdy' })).rejects.toMatchObject({
      status: 502,
    });
  });

  test('WebSocket v5 exec from a SPDY backend', async () => {
    const protocols: string[] = [];
    const backend = await start(async (upgrade) => {
      protocols.push(String(upgrade.headers['x-stream-protocol-version']));
      await cat({ exitCode: 7 })(upgrade);
    });
    const front = await start((upgrade) =>
      translateRemoteCommand(upgrade, { client: backend.client, path: '/exec', options: all }),
    );
    const session = await dialRemoteCommand(front.client, { path: '/', ...all, transport: 'websocket' });
    expect(session.protocol).toBe('v5.channel.k8s.io');
    session.stdin?.end('translated');
    expect(await Promise.all([text(session.stdout), text(session.stderr), session.outcome()])).toEqual([
      'translated',
      'err',
      { exitCode: 7, message: 'command terminated with non-zero exit code: exit status 7' },
    ]);
    expect(protocols[0]).toContain('v4.channel.k8s.io');
  });

  test('the outcome comes after all output, whichever stream of the backend is first', async () => {
    const options = { ...all, stdin: false, stderr: false };
    const backend = await start(async (upgrade) => {
      const command = await acceptRemoteCommand(upgrade, options);
      command?.error.end('{"status":"Success"}');
      setTimeout(() => command?.stdout?.end(Buffer.alloc(1 << 20)), 50);
    });
    const front = await start((upgrade) => translateRemoteCommand(upgrade, { client: backend.client, path: '/exec', options }));
    const socket = new OtherWebSocket(front.url.replace('http', 'ws'), ['v5.channel.k8s.io']);
    let received = 0;
    socket.on('message', (data: Buffer) => {
      if (data[0] === 1) received += data.length - 1;
      if (data[0] === 3 && data.length > 1) socket.emit('outcome', `${received} bytes, then ${data.subarray(1)}`);
    });
    expect((await once(socket, 'outcome'))[0]).toBe(`${1 << 20} bytes, then {"status":"Success"}`);
    socket.terminate();
  });

  test.each([
    ['a success', 0, ''],
    ['a failure', 7, 'command terminated with non-zero exit code: exit status 7'],
  ])('the first WebSocket protocol tells of %s in its own way, whatever the backend speaks', async (_, exitCode, told) => {
    const options = { ...all, stdin: false };
    const backend = await start(async (upgrade) => {
      const command = await acceptRemoteCommand(upgrade, options);
      command?.stderr?.write('err');
      await command?.finish({ exitCode });
    });
    const front = await start((upgrade) => translateRemoteCommand(upgrade, { client: backend.client, path: '/exec', options }));
    const protocols = ['channel.k8s.io'];
    const session = await dialRemoteCommand(front.client, { path: '/', ...options, transport: 'websocket', protocols });
    expect(session.protocol).toBe('channel.k8s.io');
    expect(await Promise.all([text(session.stderr), session.told()])).toEqual(['err', told]);
  });

  test('port-forward: SPDY in a WebSocket from a SPDY backend', async () => {
    const port = await upper();
    const backend = await start((upgrade) => void acceptPortForward(upgrade, { onConnection: forward }));
    const front = await start((upgrade) => tunnelPortForward(upgrade, { client: backend.client, path: '/portforward' }));
    const session = await dialPortForward(front.client, { path: '/', transport: 'websocket' });
    const { data, error } = session.connect(port);
    data.end('tunnel');
    expect(await Promise.all([text(data), error])).toEqual(['TUNNEL', '']);
    session.close();
    await expect.poll(() => [front.server.connections, backend.server.connections]).toEqual([0, 0]);
  });
});
