// Why a connection did not come about, in Go's words: clients and conditions show them.
import { distrustText } from './distrust.ts';

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

/** The other side broke the connection; one that it closed in order before its answer is none. */
export function isReset(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' && syscall !== undefined;
}

/** Why no connection was made, in Go's words. `host` has its port. */
export function dialErrorText(error: unknown, host: string): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = reasons[code];
  if (why !== undefined) return `dial tcp ${host}: ${why}`;
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${host.replace(/:\d+$/, '')}: no such host`;
  if (isReset(error)) return 'read: connection reset by peer';
  if (code === 'ECONNRESET') return 'EOF';
  const untrusted = distrustText(error);
  return untrusted === undefined ? message : `tls: failed to verify certificate: x509: ${untrusted}`;
}
