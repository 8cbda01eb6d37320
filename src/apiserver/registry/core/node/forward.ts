// Passing a request on to a kubelet, pod or service (k8s.io/apimachinery/pkg/util/proxy, UpgradeAwareHandler).
import { pipeline } from 'node:stream/promises';
import { badRequest, methodNotSupported, serviceUnavailable } from '#apimachinery/errors';
import { forwardableHeaders, proxyUpgrade, type WireClient } from '#wire';
import type { RawExchange, SpecialContext } from '../../special.ts';

export interface Target {
  client: WireClient;
  /** With query. */
  path: string;
}

/** The bytes of the connection; a request in memory has none to hand on. */
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

/** The same for a request of its own, which is no upgrade. */
export function requestHeaders(headers: RawExchange['headers']): Headers {
  const kept = backendHeaders(headers);
  for (const name of hopByHop) delete kept[name];
  return kept;
}

/** Requests and answers as they are. Rejects with 503 when the target cannot be reached. */
export async function forwardRequest(exchange: RawExchange, { client, path }: Target, signal: AbortSignal): Promise<void> {
  if (exchange.upgrade) return proxyUpgrade(exchange.upgrade, { client, path, headers: backendHeaders(exchange.headers) });
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(exchange.method);
  const length = exchange.headers['content-length'];
  const answer = await client
    .request({
      method: exchange.method,
      path,
      headers: {
        ...requestHeaders(exchange.headers),
        ...(hasBody && typeof length === 'string' && { 'content-length': length }),
      },
      ...(hasBody && { body: exchange.body }),
      signal,
    })
    .catch((error: Error) => {
      throw serviceUnavailable(`error trying to reach service: ${error.message}`);
    });
  const out = exchange.respond(answer.status, answerHeaders(answer.headers));
  await pump(answer.body, out);
}

/** Copies a stream; an end that goes away ends the other. Never rejects: the answer has begun. */
export async function pump(from: NodeJS.ReadableStream, to: NodeJS.WritableStream): Promise<void> {
  await pipeline(from, to).catch(() => undefined);
}

/** 400 for streaming endpoints that were not asked to upgrade. */
export function requireUpgrade(exchange: RawExchange): NonNullable<RawExchange['upgrade']> {
  if (!exchange.upgrade) throw badRequest('Upgrade request required');
  return exchange.upgrade;
}
