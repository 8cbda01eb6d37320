// The keys of an OpenID provider: its discovery document once, its key set whenever a token names a key that is not known
// (https://openid.net/specs/openid-connect-discovery-1_0.html).
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters, type FlattenedJWSInput } from 'jose';
import type { Clock, Logger } from '#utils';
import { createWireClient, type WireClient } from '#wire';
import { limits } from '../limits.ts';

export interface ProviderOptions {
  issuer: string;
  /** Read instead of the document at the issuer's well-known place; '' for that. */
  discoveryUrl: string;
  /** PEM; '': those the machine trusts. */
  certificateAuthority: string;
  clock: Clock;
  logger: Logger;
  /** It is called after each reading of the key set. */
  onKeys?(succeeded: boolean): void;
}

type KeySet = ReturnType<typeof createLocalJWKSet>;
type FindKey = ReturnType<KeySet>;

/** Answers that lead to another address, as Go's client takes them. */
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export class Provider {
  readonly #options: ProviderOptions;
  readonly #clients = new Map<string, WireClient>();
  #keysUrl: string | undefined;
  #failure: Error;
  #keys: KeySet | undefined;
  #reading: Promise<KeySet> | undefined;
  #reads: number[] = [];
  #timer: { cancel(): void } | undefined;
  #closed = false;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#failure = new Error(`oidc: authenticator for issuer ${JSON.stringify(options.issuer)} is not initialized`);
  }

  /** Looks for the provider until it is found: it may run on the cluster that it is for. Resolves after the first try. */
  async start(): Promise<void> {
    try {
      this.#keysUrl = await this.#discover();
    } catch (error) {
      if (this.#closed) return;
      this.#failure = error as Error;
      this.#options.logger.error('oidc authenticator: initializing plugin', { err: this.#failure.message });
      this.#timer = this.#options.clock.setTimer(limits.issuerRetryMs, () => void this.start());
    }
  }

  /** Throws an Error while the provider was not found. */
  checkReady(): void {
    if (this.#keysUrl === undefined) throw this.#failure;
  }

  get ready(): boolean {
    return this.#keysUrl !== undefined;
  }

  /**
   * The key of a token; rejects with those that it may be when they are several, and when there is none, after the key set was read again.
   * `search.read`: the known key set does not do; set once it was read for this token, which happens at most once.
   */
  async keyOf(
    { kid, ...header }: JWSHeaderParameters,
    token: FlattenedJWSInput,
    search: { read: boolean },
  ): Promise<Awaited<FindKey>> {
    const named = { ...header, ...(kid !== '' && kid !== undefined && { kid }) } as never;
    if (this.#keys && !search.read) {
      try {
        return await this.#keys(named, token);
      } catch (error) {
        if (error instanceof errors.JWKSMultipleMatchingKeys) throw error;
        // Read again below.
      }
    }
    search.read = true;
    const keys = await this.#read();
    return keys(named, token);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const client of this.#clients.values()) client.close();
  }

  /** Reads the keys. All who ask meanwhile share the answer: a flood of tokens with unknown keys does not become one of readings. */
  #read(): Promise<KeySet> {
    const { clock, onKeys } = this.#options;
    if (this.#reading) return this.#reading;
    const now = clock.monotonic();
    this.#reads = this.#reads.filter((at) => at > now - limits.keyReadsWindowMs);
    if (this.#reads.length >= limits.keyReadsMax && this.#keys) return Promise.resolve(this.#keys);
    this.#reads.push(now);
    this.#reading = this.#get(this.#keysUrl ?? '')
      .then((value) => {
        this.#keys = createLocalJWKSet(value as unknown as JSONWebKeySet);
        onKeys?.(true);
        return this.#keys;
      })
      .catch((error: unknown) => {
        onKeys?.(false);
        throw new Error(`fetching keys oidc: get keys failed ${(error as Error).message}`, { cause: error });
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #discover(): Promise<string> {
    const { issuer, discoveryUrl } = this.#options;
    const { issuer: named, jwks_uri: keysUrl } = await this.#get(
      discoveryUrl || `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    );
    if (named !== issuer)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(issuer)} got ${JSON.stringify(named)}`,
      );
    if (typeof keysUrl !== 'string' || keysUrl === '') throw new Error('provider did not return JWKS URL');
    return keysUrl;
  }

  /** The JSON object at that address, or at the one that it leads to. */
  async #get(url: string): Promise<Record<string, unknown>> {
    const abort = new AbortController();
    const timer = this.#options.clock.setTimer(limits.issuerTimeoutMs, () => abort.abort(new Error('context deadline exceeded')));
    try {
      let answer = await this.#ask(url, this.#client(new URL(url).origin), abort.signal);
      for (let hops = 0; answer.leadsTo !== undefined; hops++) {
        if (hops === limits.issuerRedirectsMax) throw new Error(`stopped after ${hops} redirects`);
        const { leadsTo } = answer;
        if (!leadsTo.startsWith('https:')) throw new Error(`redirected to ${JSON.stringify(leadsTo)}, which is not https`);
        const client = this.#connect(new URL(leadsTo).origin);
        answer = await this.#ask(leadsTo, client, abort.signal).finally(() => client.close());
      }
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text.slice(0, 256)}`);
      const value = JSON.parse(answer.text) as unknown;
      if (typeof value !== 'object' || value === null) throw new Error('not a JSON object');
      return value as Record<string, unknown>;
    } catch (error) {
      throw new Error(`Get ${JSON.stringify(url)}: ${(error as Error).message}`, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  async #ask(url: string, client: WireClient, signal: AbortSignal) {
    const { pathname, search } = new URL(url);
    const headers = { accept: 'application/json' };
    const answer = await client.request({ method: 'GET', path: pathname + search, headers, signal });
    const text = await answer.text(limits.issuerAnswerBytesMax);
    const { location } = answer.headers;
    const leads = redirects.has(answer.status) && typeof location === 'string';
    return { status: answer.status, text, leadsTo: leads ? new URL(location, url).href : undefined };
  }

  #client(origin: string): WireClient {
    let client = this.#clients.get(origin);
    if (!client) {
      client = this.#connect(origin);
      this.#clients.set(origin, client);
    }
    return client;
  }
  #connect(origin: string): WireClient {
    const { certificateAuthority: ca } = this.#options;
    return createWireClient({ baseUrl: origin, ...(ca !== '' && { tls: { ca } }) });
  }
}
