// `/healthz` without authentication on the loopback address, for those who started the kubelet (`--healthz-port`, cmd/kubelet/app/server.go).
import type { Logger } from '#utils';
import { serve, type WireServer } from '#wire';

const text = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' });

/** Serves /healthz; undefined for port 0. An address that cannot be bound is logged and does not end the kubelet, as upstream. */
export async function serveHealthz(listen: { host: string; port: number }, logger: Logger): Promise<WireServer | undefined> {
  if (listen.port === 0) return undefined;
  try {
    return await serve({
      listen,
      onRequest({ path }, response) {
        const known = ['/healthz', '/healthz/ping'].includes(path.split('?')[0] ?? '');
        response.send(known ? 200 : 404, text, known ? 'ok' : '404 page not found\n');
      },
      logger,
    });
  } catch (error) {
    logger.error('Failed to start healthz server', { err: (error as Error).message });
    return undefined;
  }
}
