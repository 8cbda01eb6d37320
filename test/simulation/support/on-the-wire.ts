// Real sockets under virtual time: time stands still while a request is on the wire, and goes on while the server itself waits for time to pass.
// Requests are seen by Node's own diagnostics, whichever client an SDK has (https://nodejs.org/api/diagnostics_channel.html, undici's DiagnosticsChannel).
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers';
import type { VendorServer } from '#cloud-provider/test-server';

/** Turns of the event loop in which nothing may begin before all is taken for quiet. */
const quietTurns = 3;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Wire {
  /** Resolves once no request is under way but those that wait for time to pass. Undefined: it is so already. */
  quiet(): Promise<void> | undefined;
  close(): void;
}

export function watchWire(server: Pick<VendorServer, 'waiting' | 'active'>): Wire {
  const under = new Set<object>();
  const add = (message: unknown): void => void under.add((message as { request: object }).request);
  const drop = (message: unknown): void => void under.delete((message as { request: object }).request);
  const answered = (message: unknown): void => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    response.once('close', () => under.delete(request));
  };
  const channels: [string, (message: unknown) => void][] = [
    ['undici:request:create', add],
    ['undici:request:trailers', drop],
    ['undici:request:error', drop],
    ['http.client.request.start', add],
    ['http.client.request.error', drop],
    ['http.client.response.finish', answered],
  ];
  for (const [name, listener] of channels) subscribe(name, listener);
  const isBusy = (): boolean => under.size > server.waiting() || server.active() > server.waiting();
  const wait = async (): Promise<void> => {
    for (let quiet = 0; quiet < quietTurns; ) {
      await turn();
      quiet = isBusy() ? 0 : quiet + 1;
    }
  };
  return {
    quiet: () => (isBusy() ? wait() : undefined),
    close() {
      for (const [name, listener] of channels) unsubscribe(name, listener);
    },
  };
}
