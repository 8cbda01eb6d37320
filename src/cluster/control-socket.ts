// What other commands ask of a running cluster that is not part of the Kubernetes API: HTTP on a unix socket that only the cluster's user can open.
import { request } from 'node:http';
import { listenerOf } from '#host';
import type { Logger } from '#utils';
import { serve, type WireServer } from '#wire';

/** Answers with a value for JSON; rejects with a sentence for the one who asked. */
export type ControlRequest = (query: URLSearchParams) => Promise<unknown>;

const json = Object.freeze({ 'content-type': 'application/json' });
const text = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' });

/** Serves the control socket of a cluster. `routes` are known by method and path: `GET /explain`. */
export function serveControl(path: string, routes: Record<string, ControlRequest>, logger: Logger): Promise<WireServer> {
  const known = new Map(Object.entries(routes));
  return serve({
    listen: { path },
    logger,
    async onRequest(asked, response) {
      const [pathname = '', search = ''] = asked.path.split('?', 2);
      const route = known.get(`${asked.method} ${pathname}`);
      if (!route) return response.send(404, text, `this cluster cannot do that: ${pathname}`);
      try {
        const value = await route(new URLSearchParams(search));
        response.send(200, json, JSON.stringify(value ?? null));
      } catch (error) {
        response.send(404, text, error instanceof Error ? error.message : String(error));
      }
    },
  });
}

function valueOf<T>(body: string): T {
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new Error('the cluster answered something else than JSON');
  }
}

/** One whose socket was removed runs on, and cannot be asked. */
async function whyUnasked(socketPath: string): Promise<string> {
  const pid = await listenerOf(socketPath);
  if (pid === undefined) return 'the cluster does not run; start it with: sagong up';
  return `the cluster runs (process ${pid}) and cannot be asked, as its socket ${socketPath} was removed; stop it and start it again`;
}

/** Asks a running cluster. Rejects with its sentence, or with one that says why it cannot be asked. */
export function askCluster<T>(
  socketPath: string,
  method: 'GET' | 'PUT',
  path: string,
  query: Record<string, string>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path: `${path}?${new URLSearchParams(query).toString()}` }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('error', () => reject(new Error('the cluster stopped while it answered')));
      response.on('end', () => {
        if (response.statusCode !== 200) return reject(new Error(body));
        try {
          resolve(valueOf<T>(body));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    sent.on('error', () => void whyUnasked(socketPath).then((why) => reject(new Error(why)), reject));
    sent.end();
  });
}
