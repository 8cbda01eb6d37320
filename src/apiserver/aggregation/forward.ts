// Handing a request on to another API server (k8s.io/kube-aggregator/pkg/apiserver, handler_proxy.go; apimachinery/pkg/util/proxy). Bytes pass
// as they come, watches and upgraded connections included.
import { dialErrorText, joinUpgraded, type ResponseHeaders, UpgradeRefusedError, type WireUpgrade } from '#wire';
import type { Incoming } from '../chain/incoming.ts';
import type { Outcome } from '../chain/outcome.ts';
import type { RawExchange } from '../registry/special.ts';
import { remoteDiscoveryTimeoutMs } from '../limits.ts';
import { answerHeaders, backendHeaders, pump, requestHeaders } from '../registry/core/node/forward.ts';
import type { UserInfo } from '../request/request.ts';
import { type Headers, identityHeaders } from './identity.ts';
import type { Remote, RemoteConnections } from './remotes.ts';

export interface Target {
  client: ReturnType<RemoteConnections['to']>['client'];
  /** With its port. */
  host: string;
}

const redirected = 'the backend attempted to redirect this request, which is not permitted';

/** An error as Go's `http.Error` writes it. */
const textOutcome = (status: number, text: string): Outcome => ({
  is: 'bytes',
  status,
  type: 'text/plain; charset=utf-8',
  body: `${text}\n`,
  headers: { 'x-content-type-options': 'nosniff' },
  uncompressed: true,
});

/** The path as it goes on: the query's keys in order, decoded and encoded again as Go does. */
function targetOf({ uri, query }: Incoming): string {
  const at = uri.indexOf('?');
  if (at < 0) return uri;
  const sorted = new URLSearchParams(query);
  sorted.sort();
  const text = sorted.toString();
  return uri.slice(0, at) + (text === '' ? '' : `?${text}`);
}

/** What the other server hears: the client's headers without its credentials, who the client is, and the way the request came. */
export function forwardedHeaders(
  headers: Headers,
  user: UserInfo,
  via: { host: string; path: string; client: string; forwardedFor: string; auditId: string },
): Headers {
  const { host, path, client, forwardedFor, auditId } = via;
  return {
    ...headers,
    'audit-id': auditId,
    'x-forwarded-for': forwardedFor === '' ? client : `${forwardedFor}, ${client}`,
    'x-forwarded-uri': path,
    'x-forwarded-host': host,
    'x-forwarded-proto': 'https',
    ...identityHeaders(user),
  };
}

function headersFor(request: Incoming, host: string, plain: Headers): Headers {
  const { user, path = '', remoteAddress, headers, auditId } = request;
  return forwardedHeaders(plain, user, {
    host,
    path,
    client: remoteAddress,
    forwardedFor: String(headers['x-forwarded-for'] ?? ''),
    auditId,
  });
}

/** Discovery has to be quick: `/apis/<group>/<version>` and nothing behind it. */
const isDiscovery = ({ target, path = '' }: Incoming): boolean =>
  target === undefined && path.split('/').filter((part) => part !== '').length === 3;

/** Gives what the other server answers. Never rejects. */
export async function forward(request: Incoming, connections: RemoteConnections, remote: Remote): Promise<Outcome> {
  const { connection } = request;
  if (!remote.available || !connection) return textOutcome(503, 'service unavailable');
  let target: Target;
  try {
    target = connections.to(remote);
  } catch {
    return textOutcome(503, 'service unavailable');
  }
  return connection.upgrade ? forwardUpgrade(request, connection.upgrade, target) : forwardPlain(request, connection, target);
}

const hasBody = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method);

async function forwardPlain(request: Incoming, connection: RawExchange, { client, host }: Target): Promise<Outcome> {
  const { method, cancellation, reply } = request;
  const length = connection.headers['content-length'];
  // Over for the client, by its going or by the time for requests, is over for the other server too.
  const over = cancellation.signal;
  const signal = isDiscovery(request) ? AbortSignal.any([over, AbortSignal.timeout(remoteDiscoveryTimeoutMs)]) : over;
  let answer: Awaited<ReturnType<typeof client.request>>;
  try {
    answer = await client.request({
      method,
      path: targetOf(request),
      headers: {
        ...headersFor(request, host, requestHeaders(connection.headers)),
        ...(hasBody(method) && typeof length === 'string' && { 'content-length': length }),
      },
      ...(hasBody(method) && length !== '0' && { body: connection.body }),
      signal,
    });
  } catch (error) {
    const why = signal.aborted ? 'context deadline exceeded' : dialErrorText(error, host);
    return textOutcome(503, `error trying to reach service: ${why}`);
  }
  // The time for the request may be over meanwhile, and answered.
  if (reply.over) {
    answer.body.destroy();
    return { is: 'answered' };
  }
  if (answer.status >= 300 && answer.status <= 399 && answer.headers['location'] !== undefined) {
    answer.body.destroy();
    return { is: 'bytes', status: 502, type: '', body: redirected, uncompressed: true };
  }
  await pump(answer.body, connection.respond(answer.status, answerHeaders(answer.headers)));
  return { is: 'answered' };
}

async function forwardUpgrade(request: Incoming, upgrade: WireUpgrade, { client, host }: Target): Promise<Outcome> {
  const headers = {
    ...headersFor(request, host, backendHeaders(upgrade.headers as Headers)),
    connection: 'Upgrade',
    upgrade: upgrade.headers.upgrade ?? '',
  };
  let backend: Awaited<ReturnType<typeof client.upgrade>>;
  try {
    // The time for requests is that for the answer of the other server: what was switched by then may go on.
    const signal = AbortSignal.any([upgrade.signal, request.cancellation.signal]);
    backend = await client.upgrade({ method: upgrade.method, path: targetOf(request), headers, signal });
  } catch (error) {
    if (!(error instanceof UpgradeRefusedError)) return textOutcome(503, dialErrorText(error, host));
    if (error.status < 400) return textOutcome(503, `invalid upgrade response: status code ${error.status}`);
    upgrade.reject(error.status, answerHeaders(error.headers) as ResponseHeaders, error.body);
    return { is: 'answered' };
  }
  await joinUpgraded(upgrade.accept(backend.headers as ResponseHeaders), backend.socket);
  return { is: 'answered' };
}
