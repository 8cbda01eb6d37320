// Tokens that another server knows: it is sent a TokenReview (k8s.io/apiserver/plugin/pkg/authenticator/token/webhook;
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication).
import type { Metrics } from '#component-base';
import { createReviewClient, type Review, type ReviewDeps, type WebhookServer } from '../outbound/index.ts';
import { limits } from './limits.ts';
import type { TokenAuthenticator } from './types.ts';

export const tokenReviewVersions = ['v1', 'v1beta1'] as const;

export interface TokenWebhookOptions {
  server: WebhookServer;
  /** The version of authentication.k8s.io that reviews are sent in. */
  version: (typeof tokenReviewVersions)[number];
  apiAudiences: readonly string[];
}

interface TokenReviewStatus {
  authenticated?: boolean;
  audiences?: string[];
  error?: string;
  user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
}

function observer(metrics: Metrics): NonNullable<ReviewDeps['observe']> {
  const total = metrics.counter({
    name: 'apiserver_delegated_authn_request_total',
    help: 'Number of HTTP requests partitioned by status code.',
    labels: ['code'],
  });
  const seconds = metrics.histogram({
    name: 'apiserver_delegated_authn_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by status code.',
    labels: ['code'],
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  });
  return (code, took) => {
    const text = code === 0 ? '<error>' : String(code);
    total.inc(1, text);
    seconds.observe(took, text);
  };
}

export function createTokenWebhook(
  { server, version, apiAudiences }: TokenWebhookOptions,
  deps: Omit<ReviewDeps, 'observe'> & { metrics: Metrics },
): TokenAuthenticator & { close(): void } {
  /** One answer may be waited for by many, so that none of them calls it off; all tries have this time together. */
  const reviewed = async (review: Review): Promise<TokenReviewStatus> => {
    const over = new AbortController();
    const timer = deps.clock.setTimer(limits.issuerTimeoutMs, () => over.abort());
    try {
      return await client.post<TokenReviewStatus>(review, 'io.k8s.api.authentication.v1.TokenReview', over.signal);
    } finally {
      timer.cancel();
    }
  };
  const client = createReviewClient(server, { timeoutMs: limits.issuerTimeoutMs }, { ...deps, observe: observer(deps.metrics) });
  return {
    async authenticateToken(token, asked) {
      const review = {
        kind: 'TokenReview',
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: { creationTimestamp: null },
        spec: { token, ...(asked.length > 0 && { audiences: asked }) },
        status: { user: {} },
      };
      const status = await reviewed(review);
      const given = status.audiences?.length ? status.audiences : apiAudiences;
      const audiences = asked.filter((audience) => given.includes(audience));
      if (asked.length > 0 && audiences.length === 0) return undefined;
      if (!status.authenticated) {
        if (status.error) throw new Error(status.error);
        return undefined;
      }
      // A webhook in another language may write null for what it leaves out.
      const { username, uid, groups, extra } = status.user ?? {};
      return {
        user: { name: username ?? '', groups: [...(groups ?? [])], ...(uid && { uid }), ...(extra && { extra }) },
        ...(asked.length > 0 && { audiences }),
      };
    },
    close: () => client.close(),
  };
}
