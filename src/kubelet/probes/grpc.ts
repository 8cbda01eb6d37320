// gRPC probes: the health service's Check (grpc.health.v1, upstream pkg/probe/grpc). Its two messages have one field each.
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { formatDurationMs } from '#apimachinery/duration';
import { failureText } from '#wire/grpc';

const serving = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** `service` as field 1, a text. */
function encodeRequest(service: string): Buffer {
  const name = Buffer.from(service.slice(0, 127));
  return name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
}

/** Field 1, a number. */
const decodeStatus = (message: Buffer): number => (message[0] === 0x08 ? (message[1] ?? 0) : 0);

interface Limit {
  timeoutMs: number;
  deadlineMs: number;
}

/** Resolves when the service says that it serves; rejects with the kubelet's words otherwise. `deadlineMs`: when the time is up, on the clock. */
export async function grpcCheck(
  host: string,
  port: number,
  service: string,
  { timeoutMs, deadlineMs: deadline }: Limit,
): Promise<void> {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const client = new Client(address, credentials.createInsecure(), { 'grpc.primary_user_agent': 'kube-probe/1.36' });
  try {
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(deadline, (error) => (error ? reject(error) : resolve())),
    ).catch(() => {
      throw new Error(
        `timeout: failed to connect service "${address}" within ${formatDurationMs(timeoutMs)}: context deadline exceeded`,
      );
    });
    const answer = await new Promise<number>((resolve, reject) => {
      client.makeUnaryRequest(
        '/grpc.health.v1.Health/Check',
        encodeRequest,
        decodeStatus,
        service,
        new Metadata(),
        { deadline },
        (error, value) => (error ? reject(new Error(callFailure(error, timeoutMs))) : resolve(value ?? 0)),
      );
    });
    if (serving[answer] !== 'SERVING') throw new Error(`service unhealthy (responded with "${serving[answer] ?? answer}")`);
  } finally {
    client.close();
  }
}

function callFailure(failure: Pick<ServiceError, 'code' | 'details'>, timeoutMs: number): string {
  const { code, details } = failure;
  if (code === status.UNIMPLEMENTED)
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${details}`;
  if (code === status.DEADLINE_EXCEEDED) return `timeout: health rpc did not complete within ${formatDurationMs(timeoutMs)}`;
  return `error: health rpc probe failed: ${failureText(failure)}`;
}
