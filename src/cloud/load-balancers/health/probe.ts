// One probe of a target: a connection, and with `http` or (over TLS) `https` a request that must be answered with 200 (RFC 9112).
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '#utils';
import type { HealthCheck } from '../../model/index.ts';
import { limits } from '../limits.ts';

/** Connects to a target. Rejects with `ProbeUnavailable` when nothing can be said about the target. */
export type Dial = (host: string, port: number) => Promise<Duplex>;

/** Nothing can be probed at the moment: says nothing about the target. */
export class ProbeUnavailable extends Error {
  override name = 'ProbeUnavailable';
}

type Check = Pick<HealthCheck, 'protocol' | 'port' | 'path' | 'timeoutMs'>;

const statusOk = /^HTTP\/1\.[01] 200[ \r]/;

function answersOk(socket: Duplex, host: string, { port, path = '/' }: Check): Promise<boolean> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\n') || text.length > limits.probeAnswerBytesMax) resolve(statusOk.test(text));
    });
    socket.once('error', () => resolve(false));
    for (const over of ['end', 'close']) socket.once(over, () => resolve(statusOk.test(text)));
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUser-Agent: sagong-load-balancer\r\nConnection: close\r\n\r\n`,
    );
    socket.resume();
  });
}

/**
 * The connection as it is, or with TLS over it. The certificate is not checked: the server was reached by its address, and a certificate would prove
 * nothing more.
 */
const withTls = (socket: Duplex, { protocol }: Check): Duplex =>
  protocol === 'https' ? connectTls({ socket, rejectUnauthorized: false }) : socket;

/** `silent`: nothing was heard in time, neither that the target is good nor that it is not. */
export type Finding = 'good' | 'bad' | 'silent';

/** How the target is. Rejects with `ProbeUnavailable` only; takes no longer than the check's timeout, but for the time in which this process itself was late. */
export function probe(dial: Dial, host: string, check: Check, clock: Clock): Promise<Finding> {
  return new Promise((resolve, reject) => {
    let socket: Duplex | undefined;
    let over = false;
    let dueMs = clock.monotonic() + check.timeoutMs;
    const finish = (finding: Finding): void => {
      over = true;
      timer.cancel();
      socket?.destroy();
      resolve(finding);
    };
    // Who wakes late has an answer, perhaps, that it has not read: it waits once more, for as long as it was away.
    const passed = (): void => {
      const lateMs = Math.min(check.timeoutMs, clock.monotonic() - dueMs);
      if (lateMs < limits.probeLateMs) return finish('silent');
      dueMs = Infinity;
      timer = clock.setTimer(lateMs, passed);
    };
    let timer = clock.setTimer(check.timeoutMs, passed);
    const run = async (): Promise<void> => {
      socket = await dial(host, check.port);
      socket.on('error', () => {});
      if (over) socket.destroy();
      else finish(check.protocol === 'tcp' || (await answersOk(withTls(socket, check), host, check)) ? 'good' : 'bad');
    };
    run().catch((error: unknown) => {
      if (!(error instanceof ProbeUnavailable)) return finish('bad');
      timer.cancel();
      reject(error);
    });
  });
}
