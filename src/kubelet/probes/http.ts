// HTTP requests to containers, for probes and lifecycle hooks (upstream pkg/probe/http). Certificates are not verified: the kubelet asks
// whether something answers, not who. Failures read as Go's http client words them.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Container, HTTPGetAction } from '#api/core/v1';
import { probePort } from './ports.ts';
import { dialError } from './tcp.ts';

export interface HttpAnswer {
  status: number;
  body: string;
}

const bodyBytesMax = 10 * 1024;

const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

export interface HttpTarget {
  url: string;
  headers: Record<string, string>;
}

/** Throws when the port's name is not one of the container's. */
export function httpTarget(action: HTTPGetAction, container: Container, podIP: string, agent: string): HttpTarget {
  const scheme = (action.scheme ?? 'HTTP').toLowerCase();
  const port = probePort(action.port, container);
  const path = action.path ?? '';
  const headers: Record<string, string> = { 'user-agent': `${agent}/1.36`, accept: '*/*', connection: 'close' };
  for (const { name, value } of action.httpHeaders ?? []) {
    const lower = name.toLowerCase();
    if (value === '' && (lower === 'accept' || lower === 'user-agent')) delete headers[lower];
    else headers[lower] = value;
  }
  return {
    url: `${scheme}://${hostPort(action.host || podIP, port)}${path.startsWith('/') || path === '' ? path : `/${path}`}`,
    headers,
  };
}

/** Rejects with an Error in Go's words when no answer came in time. Redirects are not followed. */
export function httpGet({ url, headers }: HttpTarget, timeoutMs: number): Promise<HttpAnswer> {
  const address = new URL(url);
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`Get "${url}": ${why}`));
    // Servers that end lines with a bare LF (busybox httpd with CGI) are answered for by Go's client, too.
    const asked = { headers, rejectUnauthorized: false, agent: false, method: 'GET', insecureHTTPParser: true } as const;
    const started = send(address, asked, (answer) => {
      let body = Buffer.alloc(0);
      const done = (): void => {
        clearTimeout(timer);
        resolve({ status: answer.statusCode ?? 0, body: body.subarray(0, bodyBytesMax).toString('utf8') });
        answer.destroy();
      };
      answer.on('data', (chunk: Buffer) => {
        body = Buffer.concat([body, chunk]);
        if (body.length >= bodyBytesMax) done();
      });
      answer.on('end', done);
      answer.on('error', (error) => fail(error.message));
    });
    const timer = setTimeout(() => {
      fail('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      started.destroy();
    }, timeoutMs);
    started.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(error.code === 'ECONNRESET' ? 'EOF' : dialError(error, hostPort(address.hostname, Number(address.port || 80))));
    });
    started.end();
  });
}
