// Access tokens. Google's own library finds credentials as all of Google's tools do: a key or a workload identity federation named by
// GOOGLE_APPLICATION_CREDENTIALS, those of gcloud, the service account of the instance. `token-url` of the configuration asks another service, in
// the way of upstream's AltTokenSource.
import type { Clock, ProviderMetrics } from 'sagong/cloud-provider';
import { createCalls, sendHttp, tokenBucket } from 'sagong/cloud-provider/kit';
import type { TokenSource } from '../api/compute.ts';
import { tokenEarlyMs, tokenRequestsBurst, tokenRequestsPerSecond } from '../limits.ts';

/** The library would ask other services for a project, which nothing here takes from it. */
const projectId = 'not-asked-for';
const scope = 'https://www.googleapis.com/auth/cloud-platform';

/** Loads Google's library at the first request. The API's host in another universe than Google's own is `compute.<universe>`. */
export function defaultTokens(): TokenSource & { universe(): Promise<string> } {
  let client: Promise<{ getRequestHeaders(url: string): Promise<Headers> }> | undefined;
  const auth = async () => {
    const { GoogleAuth } = await import('google-auth-library');
    return new GoogleAuth({ scopes: [scope], projectId });
  };
  return {
    async headers(url) {
      client ??= auth().then((found) => found.getClient());
      // A failure is not kept: credentials may be mounted late.
      const found = await client.catch((error: unknown) => {
        client = undefined;
        throw error;
      });
      return Object.fromEntries(await found.getRequestHeaders(url));
    },
    refused() {
      client = undefined;
    },
    universe: async () => (await auth()).getUniverseDomain(),
  };
}

interface AlternateToken {
  accessToken?: unknown;
  expireTime?: unknown;
}

export interface AlternateOptions {
  url: string;
  body: string;
  /** Authenticates the request for a token. */
  own: TokenSource;
  clock: Clock;
  metrics?: ProviderMetrics;
}

/** Tokens from `token-url`: asked for by POST, kept until shortly before they end, and asked for seldom. */
export function alternateTokens({ url, body, own, clock, metrics }: AlternateOptions): TokenSource {
  const requests = metrics?.counter({
    name: 'get_token_count',
    help: 'Counter of total Token() requests to the alternate token source',
  });
  const failures = metrics?.counter({
    name: 'get_token_fail_count',
    help: 'Counter of failed Token() requests to the alternate token source',
  });
  const limiter = tokenBucket({ clock, perSecond: tokenRequestsPerSecond, burst: tokenRequestsBurst });
  const calls = createCalls({ clock, limiter });
  let known: { token: string; endsMs: number } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    requests?.inc();
    try {
      const answer = await calls.read('token-url', async (signal) =>
        sendHttp({ method: 'POST', url, body, headers: await own.headers(url, signal), signal }),
      );
      const { accessToken, expireTime } = answer.json<AlternateToken>();
      if (typeof accessToken !== 'string' || accessToken === '') throw new Error('token-url: the answer has no accessToken');
      const endsMs = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.POSITIVE_INFINITY;
      known = { token: accessToken, endsMs: Number.isNaN(endsMs) ? clock.now() : endsMs };
      return accessToken;
    } catch (error) {
      failures?.inc();
      throw error;
    }
  }
  return {
    async headers() {
      if (known && known.endsMs - tokenEarlyMs > clock.now()) return { authorization: `Bearer ${known.token}` };
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return { authorization: `Bearer ${await asking}` };
    },
    refused() {
      known = undefined;
    },
  };
}
