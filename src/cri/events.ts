// Container events: the CRI's own (GetContainerEvents, containerd >= 1.7), else those of containerd's event service, which older versions have.
// Which one is found out by asking, not by version.
import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Clock, Logger } from '#utils';
import type { ServiceClient } from '#wire/grpc';
import { type CriError, criError, isUnimplemented } from './errors.ts';
import { eventsAcceptedMs, eventsRetryMs } from './limits.ts';
import type { ContainerEvent } from './types.ts';

export interface EventSources {
  runtime: ServiceClient;
  events: ServiceClient;
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

/** Reads a protobuf number at `at`; undefined when the bytes end. */
function varint(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let shift = 0; shift <= 28; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) return undefined;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: at };
  }
  return undefined;
}

/** The leading texts (fields 1 and 2) of a task event: the container's id, and for exits the id of the process that ended. */
export function taskEvent(bytes: Uint8Array): { containerId?: string; processId?: string } {
  const texts: string[] = [];
  let at = 0;
  for (const tag of [0x0a, 0x12]) {
    const length = bytes[at] === tag ? varint(bytes, at + 1) : undefined;
    if (length === undefined || length.next + length.value > bytes.length) break;
    texts.push(new TextDecoder().decode(bytes.subarray(length.next, length.next + length.value)));
    at = length.next + length.value;
  }
  return { containerId: texts[0], processId: texts[1] };
}

/** Reads one of containerd's own events; undefined for the end of a process that is not the container's own (an exec). */
function nativeEvent(message: Record<string, unknown>): ContainerEvent | undefined {
  const value = (message['event'] as { value?: Uint8Array } | null)?.value;
  const { containerId, processId } = value ? taskEvent(value) : {};
  if (containerId === undefined) return undefined;
  if (message['topic'] !== '/tasks/exit') return { containerId };
  return processId === containerId ? { containerId, exiting: true } : undefined;
}

const opener = (client: ServiceClient, method: string, request: object) => (): Stream =>
  client[method]?.call(client, request) as Stream;

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
    read: nativeEvent,
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
