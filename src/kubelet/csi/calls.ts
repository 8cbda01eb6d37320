// Calls of plugins over gRPC on unix sockets. gRPC is loaded by the first one: a node without plugins never does.
import type { Client } from '@grpc/grpc-js';
import type { Clock } from '#utils';
import { csiCallMs } from '../limits.ts';

export interface PluginEndpoint {
  /** Path of its socket. */
  socket: string;
  clock: Clock;
}

export type PluginService = 'Node' | 'Registration';

/** What a plugin answered with; `code` is gRPC's number. */
export class PluginError extends Error {
  readonly code: number;
  constructor(code: number, name: string, details: string) {
    super(`rpc error: code = ${name} desc = ${details}`);
    this.code = code;
  }
}

const camel = (name: string): string =>
  name
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** Asks once, over a connection of its own: plugins restart, and their sockets are other ones then. Rejects with a `PluginError`. */
export async function callPlugin<T>(
  { socket, clock }: PluginEndpoint,
  service: PluginService,
  method: string,
  request: object,
  timeoutMs = csiCallMs,
): Promise<T> {
  const [{ credentials, Metadata, status }, { pluginServices }] = await Promise.all([
    import('@grpc/grpc-js'),
    import('./definitions.ts'),
  ]);
  const client = new (pluginServices()[service])(`unix://${socket}`, credentials.createInsecure()) as Client;
  const deadline = new Date(clock.now() + timeoutMs);
  try {
    return await new Promise<T>((resolve, reject) => {
      const unary = (client as unknown as Record<string, (...args: unknown[]) => void>)[method];
      unary?.call(client, request, new Metadata(), { deadline }, (error: { code: number; details: string } | null, answer: T) =>
        error ? reject(new PluginError(error.code, camel(status[error.code] ?? 'Unknown'), error.details)) : resolve(answer),
      );
    });
  } finally {
    client.close();
  }
}
