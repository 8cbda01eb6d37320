// Container events: the CRI's own (GetContainerEvents, containerd >= 1.7), else those of containerd's event service, which older versions have.
// Which one is found out by asking, not by version.
import type { Client, ClientReadableStream } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import { criError, isUnimplemented } from './errors.ts';
import { eventsRetryMs } from './limits.ts';
import type { ContainerEvent } from './types.ts';

export interface EventSources {
  runtime: Client;
  events: Client;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

type OnEvent = (event: ContainerEvent | undefined) => void;
type Stream = ClientReadableStream<Record<string, unknown>>;

interface Source {
  open(): Stream;
  read(message: Record<string, unknown>): ContainerEvent | undefined;
}

/** Field 1 of containerd's task events, a text: the container's id. */
export function containerIdOf(event: Uint8Array): string | undefined {
  if (event[0] !== 0x0a) return undefined;
  let length = 0;
  let at = 1;
  for (let shift = 0; ; shift += 7) {
    const byte = event[at++];
    if (byte === undefined || shift > 28) return undefined;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return at + length <= event.length ? new TextDecoder().decode(event.subarray(at, at + length)) : undefined;
}

const opener = (client: Client, method: string, request: object) => (): Stream =>
  (client as unknown as Record<string, (request: object) => Stream>)[method]?.call(client, request) as Stream;

const sources = ({ runtime, events }: EventSources): Source[] => [
  {
    open: opener(runtime, 'GetContainerEvents', {}),
    read: (message) => {
      const status = message['podSandboxStatus'] as { metadata?: { uid?: string } } | null;
      return { containerId: String(message['containerId'] ?? ''), podUid: status?.metadata?.uid };
    },
  },
  {
    open: opener(events, 'Subscribe', { filters: ['namespace==k8s.io,topic~="^/tasks/(start|exit|oom|delete)"'] }),
    read: (message) => {
      const value = (message['event'] as { value?: Uint8Array } | null)?.value;
      const containerId = value && containerIdOf(value);
      return containerId === undefined ? undefined : { containerId };
    },
  },
];

/** Resolves true once the stream is up: a runtime without the method refuses at once. */
function listen(
  source: Source,
  { signal, clock }: EventSources,
  onEvent: OnEvent,
  onEnd: (error: unknown) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const stream = source.open();
    const stop = (): void => stream.cancel();
    signal.addEventListener('abort', stop, { once: true });
    const settled = clock.setTimer(eventsRetryMs / 4, () => resolve(true));
    stream.on('data', (message: Record<string, unknown>) => {
      const event = source.read(message);
      if (event) onEvent(event);
    });
    const end = (error: unknown): void => {
      settled.cancel();
      signal.removeEventListener('abort', stop);
      resolve(!isUnimplemented(criError(error)));
      onEnd(error);
    };
    let over = false;
    const once = (error?: unknown): void => {
      if (over) return;
      over = true;
      end(error ?? new Error('event stream ended'));
    };
    stream.on('error', once);
    stream.on('end', () => once());
  });
}

async function keepListening(source: Source, from: EventSources, onEvent: OnEvent): Promise<boolean> {
  let up = false;
  const onEnd = (error: unknown): void => {
    if (from.signal.aborted || isUnimplemented(criError(error))) return;
    from.logger.debug('container event stream ended, connecting again', { error: String(error) });
    from.clock.setTimer(eventsRetryMs, () => {
      if (from.signal.aborted) return;
      void listen(source, from, onEvent, onEnd).then(() => onEvent(undefined));
    });
  };
  up = await listen(source, from, onEvent, onEnd);
  return up;
}

/** See `CriClient.events`. */
export async function subscribeContainerEvents(from: EventSources, onEvent: OnEvent): Promise<boolean> {
  for (const source of sources(from)) if (await keepListening(source, from, onEvent)) return true;
  return false;
}
