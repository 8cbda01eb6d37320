// Passing a request on to a kubelet, pod or service (k8s.io/apimachinery/pkg/util/proxy, UpgradeAwareHandler).
import { badRequest, methodNotSupported, plainError, serviceUnavailable } from '#apimachinery/errors';
import { dialErrorText, forwardableHeaders, gathered, gathering, proxyUpgrade, type UpgradeTarget, type WireClient } from '#wire';
import { pipeline, recodings, Transform } from '../../../platform/streams.ts';
import type { RawExchange, SpecialContext } from '../../special.ts';
import { LinkRewriter, type ProxiedPage, proxiedLink } from './html-links.ts';

export interface Target {
  client: WireClient;
  /** Where it leads, with its port. */
  host: string;
  /** The path with its query. */
  path: string;
  /** How the backend is seen through the proxy: its links are to lead there. Absent: they stay as they are. */
  page?: ProxiedPage;
}

/** The bytes of the connection. Throws for a request in memory, which has no connection to hand on. */
export function requireExchange({ connection, request }: SpecialContext, resource: string): RawExchange {
  if (!connection) throw methodNotSupported({ group: '', resource }, request.method.toLowerCase());
  return connection;
}

// Those that concern only one of the two connections.
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection', 'te', 'trailer'];

type Headers = Record<string, string | readonly string[]>;

/** What a backend answered, without what concerns only its connection. */
export function answerHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !hopByHop.includes(name));
  return Object.fromEntries(kept) as Headers;
}

const bearerProtocol = 'base64url.bearer.authorization.k8s.io.';
const isIdentity = (name: string): boolean => name.startsWith('impersonate-') || name.startsWith('x-remote-');

/** What a backend may see: no credentials in any of their forms, and nothing that says who the client acts for. */
export function backendHeaders(headers: RawExchange['headers']): Headers {
  const kept: Headers = {};
  for (const [name, value] of Object.entries(forwardableHeaders(headers as Parameters<typeof forwardableHeaders>[0]))) {
    if (isIdentity(name)) continue;
    kept[name] = name === 'sec-websocket-protocol' ? withoutToken(value) : value;
  }
  return kept;
}

function withoutToken(value: string | readonly string[]): string {
  const protocols = (typeof value === 'string' ? [value] : value)
    .flatMap((line) => line.split(','))
    .map((protocol) => protocol.trim());
  return protocols.filter((protocol) => !protocol.startsWith(bearerProtocol)).join(', ');
}

/** The headers that are forwarded with an ordinary request, which is not an upgrade. */
export function requestHeaders(headers: RawExchange['headers']): Headers {
  const kept = backendHeaders(headers);
  for (const name of hopByHop) delete kept[name];
  return kept;
}

/** The answer to a client that wants to stream, where nothing answers at `host` (a name or an address, with its port). */
export const unreachable =
  (host: string): NonNullable<UpgradeTarget['unreachable']> =>
  (error) => {
    const { status } = plainError(`error dialing backend: ${dialErrorText(error, host)}`);
    return { status: status.code ?? 500, headers: { 'content-type': 'application/json' }, body: `${JSON.stringify(status)}\n` };
  };

/** Requests and answers as they are. Rejects with 503 when the target cannot be reached. */
export async function forwardRequest(
  exchange: RawExchange,
  { client, host, path, page }: Target,
  signal: AbortSignal,
): Promise<void> {
  if (exchange.upgrade)
    return proxyUpgrade(exchange.upgrade, {
      client,
      path,
      headers: backendHeaders(exchange.headers),
      unreachable: unreachable(host),
    });
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(exchange.method);
  const length = exchange.headers['content-length'];
  const answer = await client
    .request({
      method: exchange.method,
      path,
      headers: {
        ...requestHeaders(exchange.headers),
        ...(page && { 'x-forwarded-uri': page.prefix + (path.split('?')[0] ?? '') }),
        ...(hasBody && typeof length === 'string' && { 'content-length': length }),
      },
      ...(hasBody && { body: exchange.body }),
      signal,
    })
    .catch((error: Error) => {
      throw serviceUnavailable(`error trying to reach service: ${dialErrorText(error, host)}`);
    });
  const headers = answerHeaders(answer.headers);
  if (!page) return pump(answer.body, exchange.respond(answer.status, headers));
  const { filters, headers: shown } = throughProxy(exchange.method === 'HEAD' ? undefined : page, headers, page);
  await pipeline([answer.body, gathering, ...filters, exchange.respond(answer.status, shown)]).catch(() => undefined);
}

/** What the client of a proxy is shown: no leave for other origins, links that come back to the proxy. */
function throughProxy(
  body: ProxiedPage | undefined,
  headers: Headers,
  page: ProxiedPage,
): { headers: Headers; filters: Transform[] } {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('access-control-allow-')));
  const { location, 'content-type': type, 'content-encoding': encoding = '' } = kept;
  if (typeof location === 'string' && location !== '')
    return { headers: { ...kept, location: proxiedLink(location, page) }, filters: [] };
  const isHtml = typeof type === 'string' && type.split(';')[0]?.trim() === 'text/html';
  const codecs = Object.hasOwn(recodings, String(encoding)) ? recodings[String(encoding)] : undefined;
  if (!isHtml || !codecs || !body) return { headers: kept, filters: [] };
  const { 'content-length': _length, ...others } = kept;
  const [decode, encode] = codecs;
  return { headers: others, filters: [...decode(), linkFilter(body), ...encode()] };
}

function linkFilter(page: ProxiedPage): Transform {
  const rewriter = new LinkRewriter((link) => proxiedLink(link, page));
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(rewriter.push(chunk.toString('latin1')), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(rewriter.end(), 'latin1'));
    },
  });
}

/** Copies a stream; an end that goes away ends the other. Never rejects: the answer has begun. */
export async function pump(from: NodeJS.ReadableStream, to: NodeJS.WritableStream): Promise<void> {
  await pipeline(from, gathered, to).catch(() => undefined);
}

/** 400 for streaming endpoints that were not asked to upgrade. */
export function requireUpgrade(exchange: RawExchange): NonNullable<RawExchange['upgrade']> {
  if (!exchange.upgrade) throw badRequest('Upgrade request required');
  return exchange.upgrade;
}
