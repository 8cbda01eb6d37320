// HTTP requests to containers, for probes and lifecycle hooks (upstream pkg/probe/http). Certificates are not verified: the kubelet asks
// whether something answers, not who. Failures read as Go's http client words them.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Container, HTTPGetAction } from '#api/core/v1';
import { boundInformational } from '#wire';
import { probePort } from './ports.ts';
import { dialError } from './tcp.ts';

export interface HttpAnswer {
  status: number;
  body: string;
}

const bodyBytesMax = 10 * 1024;
const redirectsMax = 10;

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

interface Response extends HttpAnswer {
  location: string | undefined;
}

/** One request. */
function ask(address: URL, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
  const send = address.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    // Servers that end lines with a bare LF (busybox httpd with CGI) are answered for by Go's client, too.
    const asked = { headers, rejectUnauthorized: false, agent: false, method: 'GET', insecureHTTPParser: true, signal } as const;
    const started = send(address, asked, (answer) => {
      let body = Buffer.alloc(0);
      const done = (): void => {
        const text = body.subarray(0, bodyBytesMax).toString('utf8');
        resolve({ status: answer.statusCode ?? 0, body: text, location: answer.headers.location });
        answer.destroy();
      };
      answer.on('data', (chunk: Buffer) => {
        body = Buffer.concat([body, chunk]);
        if (body.length >= bodyBytesMax) done();
      });
      answer.on('end', done);
      answer.on('error', reject);
    });
    boundInformational(started);
    // Of another protocol, which nobody asked for: no answer follows.
    started.on('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode ?? 0, body: '', location: undefined });
    });
    started.on('error', (error: NodeJS.ErrnoException) => {
      const dialled = hostPort(address.hostname, Number(address.port || 80));
      reject(new Error(error.code === 'ECONNRESET' ? 'EOF' : dialError(error, dialled), { cause: error }));
    });
    started.end();
  });
}

const redirects = new Set([301, 302, 303, 307, 308]);

/** Where an answer sends its reader; undefined when it is the last word: there is nowhere to go, or it would be to another host. */
function nextAddress(first: URL, current: URL, { status, location }: Response): URL | undefined {
  if (!redirects.has(status) || !location) return undefined;
  const next = new URL(location, current);
  return next.hostname === first.hostname && /^https?:$/.test(next.protocol) ? next : undefined;
}

/** Follows redirects to the same host. Rejects with an Error in Go's words when no answer came in time. */
export async function httpGet({ url, headers }: HttpTarget, timeoutMs: number): Promise<HttpAnswer> {
  const first = new URL(url);
  const over = AbortSignal.timeout(timeoutMs);
  let address = first;
  try {
    for (let asked = 1; ; asked++) {
      const answer = await ask(address, headers, over);
      const next = nextAddress(first, address, answer);
      if (next === undefined) return answer;
      if (asked >= redirectsMax) throw new Error(`stopped after ${redirectsMax} redirects`);
      address = next;
    }
  } catch (error) {
    const late = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    const where = address === first ? url : address.href;
    throw new Error(`Get "${where}": ${over.aborted ? late : (error as Error).message}`, { cause: error });
  }
}
