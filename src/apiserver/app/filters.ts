// What stands before every request over a connection, requests to upgrade included: CORS (k8s.io/apiserver/pkg/server/filters/cors.go) and the
// Strict-Transport-Security header (hsts.go). Only there when flags ask for it. As upstream has it, they come before anybody knows who asks, and
// what they answer themselves is not recorded: so they are no links of the chain.
import { compileRegexp } from '#regexp';
import type { ResponseHeaders, WireRequest, WireResponse } from '#wire';

export interface FilterOptions {
  /** Regular expressions. */
  corsAllowedOrigins?: readonly string[];
  strictTransportSecurityDirectives?: readonly string[];
}

/** Adds headers to whatever is answered. */
class WithHeaders implements WireResponse {
  readonly #inner: WireResponse;
  readonly #headers: ResponseHeaders;
  constructor(inner: WireResponse, headers: ResponseHeaders) {
    this.#inner = inner;
    this.#headers = headers;
  }
  get headSent(): boolean {
    return this.#inner.headSent;
  }
  get status(): number {
    return this.#inner.status;
  }
  get destroyed(): boolean {
    return this.#inner.destroyed;
  }
  head(status: number, headers?: ResponseHeaders): void {
    this.#inner.head(status, { ...this.#headers, ...headers });
  }
  send(status: number, headers: ResponseHeaders, body: Uint8Array | string): void {
    this.#inner.send(status, { ...this.#headers, ...headers }, body);
  }
  flushHead(): void {
    this.#inner.flushHead();
  }
  write(chunk: Uint8Array | string): boolean {
    return this.#inner.write(chunk);
  }
  drain(): Promise<void> {
    return this.#inner.drain();
  }
  end(chunk?: Uint8Array | string): void {
    this.#inner.end(chunk);
  }
  destroy(): void {
    this.#inner.destroy();
  }
}

/** Ordinary requests, and requests to upgrade. */
type Served = Pick<WireRequest, 'method' | 'headers' | 'encrypted'>;
type Serve<Request> = (request: Request, response: WireResponse) => Promise<void>;

const corsHeaders = (origin: string): ResponseHeaders => ({
  'access-control-allow-origin': origin,
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
});

/** Throws an Error, with upstream's text, for directives that cannot be. */
function transportSecurity(directives: readonly string[]): string | undefined {
  for (const directive of directives) {
    if (/^max-age=\d+$/.test(directive) || directive === 'includeSubDomains' || directive === 'preload') continue;
    throw new Error(
      `--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information`,
    );
  }
  return directives.length === 0 ? undefined : directives.join('; ');
}

/** Puts the filters before `serve`. Throws an Error for an invalid regular expression or directive. */
export function withFilters<Request extends Served>(options: FilterOptions, serve: Serve<Request>): Serve<Request> {
  const origins = (options.corsAllowedOrigins ?? []).map((pattern) => compileRegexp(pattern));
  const security = transportSecurity(options.strictTransportSecurityDirectives ?? []);
  if (origins.length === 0 && security === undefined) return serve;
  return async (request, response) => {
    const { origin } = request.headers;
    const allowed = origin !== undefined && origin !== '' && origins.some((pattern) => pattern.test(origin));
    const headers = {
      ...(security !== undefined && request.encrypted && { 'strict-transport-security': security }),
      ...(allowed && corsHeaders(origin)),
    };
    const answer = new WithHeaders(response, headers);
    if (allowed && request.method === 'OPTIONS') answer.send(204, {}, '');
    else await serve(request, answer);
  };
}
