import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type Logger, silentLogger } from '#utils';
import { keptWays, type Way, Ways, waysOf } from './ways.ts';

const ca = createCertificateAuthority({ commonName: 'kubernetes' });
const clock = systemClock();

/** An apiserver as far as its health goes. */
class Apiserver {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  mode: 'ready' | 'failing' | 'silent' = 'ready';
  asked = 0;

  constructor() {
    const { cert, key } = issueCertificate({ ca, commonName: 'kube-apiserver', ips: ['127.0.0.1'], usages: ['server auth'] });
    this.#server = createServer({ cert, key }, (_, response) => {
      this.asked++;
      if (this.mode !== 'silent') response.writeHead(this.mode === 'ready' ? 200 : 500).end();
    });
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket));
  }
  async listen(): Promise<Way> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return { host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port };
  }
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

it.each(['{}', 'null', '7', '[1]', '[null]', '[{"host":"a"}]', '[{"host":"a","port":0}]', '[{"host":7,"port":1}]', '[{'])(
  'a file of apiservers that holds %s is none, and is named',
  async (text) => {
    const dir = await mkdtemp(join(tmpdir(), 'ways-'));
    const path = join(dir, 'apiservers.json');
    const warn = vi.fn<Logger['warn']>();
    try {
      await writeFile(path, text);
      expect(waysOf('https://a:1', await keptWays(path, { ...silentLogger, warn }))).toEqual([{ host: 'a', port: 1 }]);
      expect(warn).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ path }));
    } finally {
      await rm(dir, { recursive: true });
    }
  },
);

describe('the ways to a cluster', () => {
  let dir: string;
  let servers: Apiserver[];
  let at: Way[];
  let ways: Ways;
  const file = (): string => join(dir, 'apiservers.json');
  const portOf = async (): Promise<number> => {
    const socket = (await ways.dial({ host: '', port: 0 })) as Socket;
    return socket.remotePort ?? 0;
  };
  const open = (): Promise<Ways> =>
    Ways.open({ server: `https://127.0.0.1:${at[0]?.port}`, ca: ca.cert, file: file() }, { clock, logger: silentLogger });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ways-'));
    servers = [new Apiserver(), new Apiserver()];
    at = [];
    for (const server of servers) at.push(await server.listen());
    ways = await open();
  });
  afterEach(async () => {
    ways.close();
    for (const server of servers) server.close();
    await rm(dir, { recursive: true });
  });

  it('are the endpoint and what the cluster names, each once', () => {
    expect(
      waysOf('https://[fd00::1]:6443', [
        { host: '10.0.0.2', port: 6443 },
        { host: 'fd00::1', port: 6443 },
      ]),
    ).toEqual([
      { host: 'fd00::1', port: 6443 },
      { host: '10.0.0.2', port: 6443 },
    ]);
  });

  it('stay as long as the one in use answers, and with one alone whatever it says', async () => {
    (servers[0] as Apiserver).mode = 'failing';
    expect(await portOf()).toBe(at[0]?.port);
    (servers[0] as Apiserver).mode = 'ready';
    await ways.learn(at);
    await expect.poll(() => servers[0]?.asked).toBeGreaterThan(2);
    expect([ways.current, servers[1]?.asked]).toEqual([at[0], 0]);
  });

  it.each(['failing', 'silent'] as const)(
    'change with all connections when it is %s, and are known after a restart',
    async (mode) => {
      await ways.learn(at);
      const socket = await ways.dial({ host: '', port: 0 });
      const closed = once(socket, 'close');
      (servers[0] as Apiserver).mode = mode;
      await closed;
      expect(await portOf()).toBe(at[1]?.port);
      expect(await keptWays(file())).toEqual(at);
      ways.close();
      servers[0]?.close();
      ways = await open();
      expect(await portOf()).toBe(at[1]?.port);
    },
  );

  it('stay when no other answers either', async () => {
    await ways.learn(at);
    for (const server of servers) server.mode = 'failing';
    await expect.poll(() => servers[1]?.asked).toBeGreaterThan(1);
    expect(ways.current).toEqual(at[0]);
  });

  it('reject when nobody listens', async () => {
    await ways.learn(at);
    for (const server of servers) server.close();
    await expect(portOf()).rejects.toThrow('ECONNREFUSED');
  });
});
