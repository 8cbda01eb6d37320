// One port for two protocols, as etcd has it: gRPC over HTTP/2, and over HTTP/1.1 what probes ask (`/health`, `/version`;
// https://etcd.io/docs/v3.6/op-guide/monitoring/#health-check). TLS tells them apart by ALPN, plain connections by their first byte.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import { frontConnectionsMax, greetingTimeoutMs, probeTimeoutMs } from '../limits.ts';
import { etcdVersion } from './maintenance.ts';

export interface EtcdFrontTls {
  /** PEM. Clients must show a certificate that `clientCa` signed; without it any client may connect. */
  cert: string | Uint8Array;
  key: string | Uint8Array;
  clientCa?: string | Uint8Array;
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

interface Target {
  server: Server;
  host: string;
  port: number;
  tls?: EtcdFrontTls;
  /** How long a connection may take to say what it speaks, and one that speaks HTTP/1.1 to ask and to be answered. */
  greetingMs?: number;
  probeMs?: number;
}

/** `PRI * HTTP/2.0`: no method of HTTP/1.1 that is answered here begins so. */
const prefaceStart = 'P'.charCodeAt(0);

function answer(path: string, unhealthy: string | undefined): [number, object] | undefined {
  if (path === '/health')
    return unhealthy === undefined ? [200, { health: 'true', reason: '' }] : [503, { health: 'false', reason: unhealthy }];
  if (path === '/version') return [200, { etcdserver: etcdVersion, etcdcluster: etcdVersion }];
  return undefined;
}

/** `health` says what is wrong; undefined: nothing. Rejects when the address cannot be listened on or the certificates cannot be used. */
export async function listenForBoth(
  { server, host, port, tls, greetingMs = greetingTimeoutMs, probeMs = probeTimeoutMs }: Target,
  health: () => Promise<string | undefined>,
): Promise<Listener> {
  const grpc = server.createConnectionInjector(ServerCredentials.createInsecure());
  const serve = async ({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = url.split('?')[0] ?? '';
    const [status, body] = answer(path, path === '/health' ? await health() : undefined) ?? [404, undefined];
    const allowed = method === 'GET' || method === 'HEAD';
    const type = { 'content-type': body ? 'application/json' : 'text/plain; charset=utf-8' };
    response.writeHead(allowed ? status : 405, { ...type, connection: 'close' });
    response.end(!allowed ? 'Method Not Allowed\n' : body ? JSON.stringify(body) : '404 page not found\n');
  };
  const http = createHttpServer((request, response) => void serve(request, response));
  /** One question each: a server that does not listen itself has none of the timeouts of `node:http`. */
  const probe = (socket: Socket): void => {
    const late = setTimeout(() => socket.destroy(), probeMs);
    socket.once('close', () => clearTimeout(late));
    http.emit('connection', socket);
  };
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const byFirstByte = (socket: Socket): void => {
    keep(socket);
    socket.setTimeout(greetingMs, () => socket.destroy());
    socket.once('data', (chunk: Buffer): void => {
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.pause();
      socket.unshift(chunk);
      if (chunk[0] === prefaceStart && chunk[1] === 'R'.charCodeAt(0)) return grpc.injectConnection(socket);
      probe(socket);
      process.nextTick(() => socket.resume());
    });
  };
  const listener: NetServer = tls
    ? createTlsServer(tlsOptions(tls, greetingMs), (socket) => {
        keep(socket);
        if (socket.alpnProtocol === 'h2') grpc.injectConnection(socket);
        else probe(socket);
      })
    : createServer(byFirstByte);
  listener.maxConnections = frontConnectionsMax;
  // Node leaves a connection whose handshake failed, or came to no end, to whoever listens here.
  listener.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    // As Go reads the name: the first address of IPv4.
    listener.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, () => resolve());
  });
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of open) socket.destroy();
      grpc.destroy();
      await closed;
    },
  };
}

const pem = (value: string | Uint8Array): string | Buffer => (typeof value === 'string' ? value : Buffer.from(value));

const tlsOptions = ({ cert, key, clientCa }: EtcdFrontTls, greetingMs: number): object => ({
  cert: pem(cert),
  key: pem(key),
  ALPNProtocols: ['h2', 'http/1.1'],
  handshakeTimeout: greetingMs,
  ...(clientCa !== undefined && { ca: pem(clientCa), requestCert: true, rejectUnauthorized: true }),
});
