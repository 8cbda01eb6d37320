// The HTTP side of an emulator. It listens on loopback and speaks plain HTTP: nothing leaves the machine.
import type { Logger } from '#utils';
import { BodyTooLargeError, serve, type WireRequest, type WireServer } from '#wire';
import type { EmulatedAnswer, Emulator } from './emulator.ts';
import { bodyTimeoutMs, closeGraceMs, connectionsPerAddressMax, requestBytesMax } from './limits.ts';

export interface EmulatorServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

async function bodyOf(request: WireRequest): Promise<Buffer | undefined> {
  try {
    return await request.readBody(requestBytesMax);
  } catch (error) {
    if (error instanceof BodyTooLargeError) return undefined;
    throw error;
  }
}

/** Serves an emulator; the port 0 takes a free one. */
export async function serveEmulator(emulator: Emulator, port: number, logger: Logger): Promise<EmulatorServer> {
  const server: WireServer = await serve({
    listen: { host: '127.0.0.1', port },
    limits: { connectionsPerAddressMax, bodyTimeoutMs },
    logger,
    async onRequest(request, response) {
      const { method, path, headers } = request;
      const send = ({ status, headers: own, body }: EmulatedAnswer): void => response.send(status, own, body);
      const stop = emulator.checkHead?.({ method, path, headers });
      if (stop) return send(stop);
      const body = await bodyOf(request);
      if (!body) return response.send(413, { 'content-type': 'text/plain' }, `a request has at most ${requestBytesMax} bytes`);
      send(await emulator.answer({ method, path, headers, body }));
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    close: () => server.close({ graceMs: closeGraceMs }),
  };
}
