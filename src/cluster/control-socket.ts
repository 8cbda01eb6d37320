// What other commands ask of a running cluster that is not part of the Kubernetes API: HTTP on a unix socket that only the cluster's user can open.
import { createServer, request, type Server } from 'node:http';
import { rm } from 'node:fs/promises';
import type { Logger } from '#utils';

/** Answers with a value for JSON; rejects with a sentence for the one who asked. */
export type ControlRequest = (query: URLSearchParams) => Promise<unknown>;

/** `routes` by method and path: `GET /explain`. */
export async function serveControl(path: string, routes: Record<string, ControlRequest>, logger: Logger): Promise<Server> {
  await rm(path, { force: true });
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://local');
    const route = routes[`${incoming.method} ${pathname}`];
    const answer = route ? route(searchParams) : Promise.reject(new Error(`this cluster cannot do that: ${pathname}`));
    answer.then(
      (value) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value ?? null)),
      (error: Error) => response.writeHead(404, { 'content-type': 'text/plain' }).end(error.message),
    );
  });
  server.on('error', (error) => logger.error('other commands cannot reach the cluster', { error: String(error) }));
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve) => server.listen(path, resolve));
  } finally {
    process.umask(mask);
  }
  return server;
}

/** Asks a running cluster. Rejects with its sentence, or with one that says that it does not run. */
export function askCluster<T>(
  socketPath: string,
  method: 'GET' | 'PUT',
  path: string,
  query: Record<string, string>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path: `${path}?${new URLSearchParams(query).toString()}` }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(text) as T) : reject(new Error(text))));
    });
    sent.on('error', () => reject(new Error('the cluster does not run; start it with: sagong up')));
    sent.end();
  });
}
