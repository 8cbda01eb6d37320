// Calls of plugins over gRPC on unix sockets. gRPC is loaded by the first one: a node without plugins never does.
import type { ServiceError } from '@grpc/grpc-js';
import type { Clock } from '#utils';
import { callUnary, failureText } from '#wire/grpc';
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
  constructor(failure: { code: number; details: string }) {
    super(failureText(failure));
    this.code = failure.code;
  }
}

/** Asks once, over a connection of its own: plugins restart, and their sockets are other ones then. Rejects with a `PluginError`. */
export async function callPlugin<T>(
  { socket, clock }: PluginEndpoint,
  service: PluginService,
  method: string,
  request: object,
  timeoutMs = csiCallMs,
): Promise<T> {
  const [{ credentials }, { pluginServices }] = await Promise.all([import('@grpc/grpc-js'), import('./definitions.ts')]);
  const client = new (pluginServices()[service])(`unix://${socket}`, credentials.createInsecure());
  try {
    return await callUnary<T>({ client, method, request, deadlineMs: clock.now() + timeoutMs });
  } catch (error) {
    throw new PluginError(error as ServiceError);
  } finally {
    client.close();
  }
}
