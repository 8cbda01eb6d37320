// GET /containerLogs/{namespace}/{pod}/{container} (PodLogOptions in the query).
import { isNotFound } from '#cri';
import type { WireRequest, WireResponse } from '#wire';
import type { ServedKubelet } from './served.ts';
import { type LogRequest, streamLog } from '../logs/stream.ts';
import { findPod, logContainerId, RequestError, statusOf } from './lookup.ts';

/** A whole number in the query; throws 400 for anything else or less than `min`. */
function wholeNumber(query: URLSearchParams, name: string, min: number): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min)
    throw new RequestError(422, `Invalid value: ${JSON.stringify(text)}: ${name} must be a whole number of at least ${min}`);
  return value;
}

const isTrue = (query: URLSearchParams, name: string): boolean => ['true', '1', ''].includes(query.get(name) ?? 'false');

function logRequest(query: URLSearchParams, now: number): LogRequest {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds', 1);
  const sinceTime = query.get('sinceTime');
  const since = sinceTime ? Date.parse(sinceTime) : sinceSeconds === undefined ? undefined : now - sinceSeconds * 1000;
  if (since !== undefined && Number.isNaN(since)) throw new RequestError(400, `invalid sinceTime: ${sinceTime}`);
  const stream = query.get('stream') ?? 'All';
  return {
    follow: isTrue(query, 'follow'),
    tailLines: wholeNumber(query, 'tailLines', 0),
    sinceMs: since,
    limitBytes: wholeNumber(query, 'limitBytes', 1),
    timestamps: isTrue(query, 'timestamps'),
    ...(stream === 'Stdout' && { stream: 'stdout' as const }),
    ...(stream === 'Stderr' && { stream: 'stderr' as const }),
  };
}

export async function serveLogs(
  kubelet: ServedKubelet,
  [namespace = '', name = '', container = '']: readonly string[],
  request: WireRequest,
  response: WireResponse,
): Promise<void> {
  const query = new URLSearchParams(request.path.split('?')[1] ?? '');
  const pod = findPod(kubelet, namespace, name);
  const id = logContainerId(pod, statusOf(kubelet, pod), container, isTrue(query, 'previous'));
  const { runtime, clock } = kubelet.parts;
  const wanted = logRequest(query, clock.now());
  const { streams } = runtime;
  if (streams === undefined) {
    response.send(200, plain, `${simulatedNotice}\n`);
    return;
  }
  const { path } = await streams.log(id).catch(() => {
    throw new RequestError(404, `unable to retrieve container logs for ${runtime.name}://${id}`);
  });
  const running = async (): Promise<boolean> =>
    streams.log(id).then(
      ({ open }) => open,
      (error: unknown) => {
        if (!isNotFound(error)) throw error;
        return false;
      },
    );
  const sink = {
    begin() {
      response.head(200, plain);
      response.flushHead();
    },
    write: (chunk: Buffer) => void response.write(chunk),
    drain: () => response.drain(),
    signal: request.signal,
  };
  try {
    await streamLog({ path, clock, running }, wanted, sink);
  } catch (error) {
    const message = `failed to try resolving symlinks in path ${JSON.stringify(path)}: ${(error as Error).message}`;
    if (!response.headSent) throw new RequestError(400, message);
    // The connection breaks, so that the client does not take the part that it has for the whole log.
    return response.destroy();
  }
  response.end();
}

const plain = { 'content-type': 'text/plain' };
export const simulatedNotice =
  'This container is simulated: no process runs, so there is no log. Use --runtime containerd for real containers.';
