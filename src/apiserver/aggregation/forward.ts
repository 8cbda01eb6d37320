// Handing a request on to another API server (k8s.io/kube-aggregator/pkg/apiserver, handler_proxy.go; apimachinery/pkg/util/proxy). Bytes pass
// as they come, watches and upgraded connections included.
import { pipeDuplex, UpgradeRefusedError, type ResponseHeaders, type WireUpgrade } from '#wire';
import type { UserInfo } from '../contracts.ts';
import type { Exchange } from '../endpoints/exchange.ts';
import { answerHeaders, backendHeaders, requestHeaders } from '../registry/core/node/forward.ts';
import { remoteDiscoveryTimeoutMs } from '../limits.ts';
import { dialErrorText } from '../dial-error.ts';
import { type Headers, identityHeaders } from './identity.ts';
import type { Remote, RemoteConnections } from './remotes.ts';

export interface Target {
  client: ReturnType<RemoteConnections['to']>['client'];
  /** With its port. */
  host: string;
}

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
const redirected = 'the backend attempted to redirect this request, which is not permitted';

/** An error as Go's `http.Error` writes it. */
export const sendText = ({ response, headers }: Exchange, status: number, text: string): void =>
  response.send(status, { ...headers(), ...plainText }, `${text}\n`);

/** The path as it goes on: decoded and encoded again as Go does, with the query's keys in order. */
function targetOf({ request, query }: Exchange): string {
  const at = request.path.indexOf('?');
  if (at < 0) return request.path;
  const sorted = new URLSearchParams(query);
  sorted.sort();
  const text = sorted.toString();
  return request.path.slice(0, at) + (text === '' ? '' : `?${text}`);
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

function headersFor(exchange: Exchange, host: string, plain: Headers): Headers {
  const { request, user, info } = exchange;
  return forwardedHeaders(plain, user, {
    host,
    path: info.path,
    client: request.remoteAddress,
    forwardedFor: String(request.headers['x-forwarded-for'] ?? ''),
    auditId: String(exchange.headers()['audit-id'] ?? ''),
  });
}

/** Discovery has to be quick: `/apis/<group>/<version>` and nothing behind it. */
const isDiscovery = ({ info }: Exchange): boolean =>
  !info.isResource && info.path.split('/').filter((part) => part !== '').length === 3;

/** Answers the exchange with what the other server answers. Never rejects. */
export async function forward(exchange: Exchange, connections: RemoteConnections, remote: Remote): Promise<void> {
  if (!remote.available) return sendText(exchange, 503, 'service unavailable');
  let target: Target;
  try {
    target = connections.to(remote);
  } catch {
    return sendText(exchange, 503, 'service unavailable');
  }
  return forwardTo(exchange, target);
}

export function forwardTo(exchange: Exchange, target: Target): Promise<void> {
  return exchange.upgrade ? forwardUpgrade(exchange, exchange.upgrade, target) : forwardPlain(exchange, target);
}

const hasBody = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method);

async function forwardPlain(exchange: Exchange, { client, host }: Target): Promise<void> {
  const { request, response } = exchange;
  const { method } = request;
  const length = request.headers['content-length'];
  // Over for the client, by its going or by the time for requests, is over for the other server too.
  const over = new AbortController();
  request.onClose(() => over.abort());
  const ends = [over.signal, request.signal];
  const signal = AbortSignal.any(isDiscovery(exchange) ? [...ends, AbortSignal.timeout(remoteDiscoveryTimeoutMs)] : ends);
  let answer: Awaited<ReturnType<typeof client.request>>;
  try {
    answer = await client.request({
      method,
      path: targetOf(exchange),
      headers: {
        ...headersFor(exchange, host, requestHeaders(request.headers as Headers)),
        ...(hasBody(method) && typeof length === 'string' && { 'content-length': length }),
      },
      ...(hasBody(method) && length !== '0' && { body: request.body }),
      signal,
    });
  } catch (error) {
    if (response.headSent || response.destroyed) return;
    const why = signal.aborted ? 'context deadline exceeded' : dialErrorText(error, host);
    return sendText(exchange, 503, `error trying to reach service: ${why}`);
  }
  // The time for the request may be over meanwhile, and answered.
  if (response.headSent || response.destroyed) return void answer.body.destroy();
  if (answer.status >= 300 && answer.status <= 399 && answer.headers.location !== undefined) {
    answer.body.destroy();
    return response.send(502, exchange.headers(), redirected);
  }
  response.head(answer.status, { ...exchange.headers(), ...(answerHeaders(answer.headers) as ResponseHeaders) });
  response.flushHead();
  await pass(answer.body, exchange);
}

/** Copies the body as it comes; a side that goes away ends the other. */
async function pass(body: AsyncIterable<unknown> & { destroy(): void }, { response }: Exchange): Promise<void> {
  try {
    for await (const chunk of body) {
      if (!response.write(chunk as Buffer)) await response.drain();
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    response.destroy();
  } finally {
    body.destroy();
  }
}

async function forwardUpgrade(exchange: Exchange, upgrade: WireUpgrade, { client, host }: Target): Promise<void> {
  const headers = {
    ...headersFor(exchange, host, backendHeaders(upgrade.headers as Headers)),
    connection: 'Upgrade',
    upgrade: upgrade.headers.upgrade ?? '',
  };
  let backend: Awaited<ReturnType<typeof client.upgrade>>;
  try {
    backend = await client.upgrade({ method: upgrade.method, path: targetOf(exchange), headers, signal: upgrade.signal });
  } catch (error) {
    if (!(error instanceof UpgradeRefusedError)) return sendText(exchange, 503, dialErrorText(error, host));
    if (error.status < 400) return sendText(exchange, 503, `invalid upgrade response: status code ${error.status}`);
    return upgrade.reject(error.status, answerHeaders(error.headers) as ResponseHeaders, error.body);
  }
  await pipeDuplex(upgrade.accept(backend.headers as ResponseHeaders), backend.socket);
}
