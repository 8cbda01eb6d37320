// TCP probes: a connection that opens is enough (upstream pkg/probe/tcp).
import { connect } from 'node:net';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  ECONNRESET: 'read: connection reset by peer',
};

/** A failed dial in Go's words. */
export const dialError = (error: NodeJS.ErrnoException, address: string): string => {
  const why = reasons[error.code ?? ''];
  if (why) return `dial tcp ${address}: ${why}`;
  return error.code === 'ENOTFOUND' ? `dial tcp: lookup ${address.replace(/:\d+$/, '')}: no such host` : error.message;
};

/** Rejects with an Error in Go's words. */
export function tcpConnect(host: string, port: number, timeoutMs: number): Promise<void> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const end = (error?: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      if (error) reject(error);
      else resolve();
    };
    const timer = setTimeout(() => end(new Error(`dial tcp ${address}: i/o timeout`)), timeoutMs);
    socket.once('connect', () => end());
    socket.once('error', (error) => end(new Error(dialError(error, address), { cause: error })));
  });
}
