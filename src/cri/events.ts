// Container events: the CRI's own (GetContainerEvents, containerd >= 1.7), else those of containerd's event service, which older versions have.
// Which one is found out by asking, not by version.
import type { Client, ClientReadableStream } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import { type CriError, criError, isUnimplemented } from './errors.ts';
import { eventsAcceptedMs, eventsRetryMs } from './limits.ts';
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

/** One stream; calls `onEnd` once when it is over. */
function listen(
  source: Source,
  signal: AbortSignal,
  onMessage: (event: ContainerEvent) => void,
  onEnd: (error: CriError) => void,
): void {
  const stream = source.open();
  const stop = (): void => stream.cancel();
  signal.addEventListener('abort', stop, { once: true });
  let over = false;
  const end = (error: unknown): void => {
    if (over) return;
    over = true;
    signal.removeEventListener('abort', stop);
    onEnd(criError(error));
  };
  stream.on('data', (message: Record<string, unknown>) => {
    const event = source.read(message);
    if (event) onMessage(event);
  });
  stream.on('error', end);
  stream.on('end', () => end(new Error('event stream ended')));
}

/** See `CriClient.events`. A source that refuses gives way to the next; one that breaks off is opened again. */
export function subscribeContainerEvents(from: EventSources, onEvent: OnEvent): Promise<boolean> {
  const { signal, clock, logger } = from;
  const list = sources(from);
  return new Promise((resolve) => {
    const accepted = clock.setTimer(eventsAcceptedMs, () => resolve(true));
    const open = (index: number): void => {
      const source = list[index];
      if (signal.aborted) return;
      if (source === undefined) {
        accepted.cancel();
        resolve(false);
        return;
      }
      const onMessage = (event: ContainerEvent): void => {
        resolve(true);
        onEvent(event);
      };
      listen(source, signal, onMessage, (error) => {
        if (signal.aborted) return;
        if (isUnimplemented(error)) return open(index + 1);
        logger.debug('container event stream ended, connecting again', { error: error.message });
        clock.setTimer(eventsRetryMs, () => {
          open(index);
          onEvent(undefined);
        });
      });
    };
    open(0);
  });
}
