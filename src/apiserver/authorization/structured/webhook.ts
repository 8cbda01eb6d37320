// An authorizer that asks another server, which is sent a SubjectAccessReview (k8s.io/apiserver/plugin/pkg/authorizer/webhook;
// https://kubernetes.io/docs/reference/access-authn-authz/webhook/).
import type { Metrics } from '#component-base';
import type { Clock, Logger, Rng } from '#utils';
import type { Cancellation } from '../../request/cancellation.ts';
import { createReviewClient, readWebhookServer, type ReviewClient, type WebhookServer } from '../../outbound/index.ts';
import { reviewCacheAttributesMax, reviewsMax } from '../limits.ts';
import type { Authorizer, Decision } from '../types.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { accessReviewOf, type AccessReviewSpec, compileConditions, conditionsHold } from './review.ts';

export interface WebhookDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
}

interface Status {
  allowed?: boolean;
  denied?: boolean;
  reason?: string;
}

function webhookMetrics(metrics: Metrics, name: string) {
  const buckets = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];
  const evaluations = metrics.counter({
    name: 'apiserver_authorization_webhook_evaluations_total',
    help: 'Round-trips to authorization webhooks.',
    labels: ['result', 'name'],
  });
  const durations = metrics.histogram({
    name: 'apiserver_authorization_webhook_duration_seconds',
    help: 'Request latency in seconds.',
    labels: ['result', 'name'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, ...buckets],
  });
  const failOpen = metrics.counter({
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    help: 'NoOpinion results due to webhook timeout or error.',
    labels: ['result', 'name'],
  });
  const excluded = metrics.counter({
    name: 'apiserver_authorization_match_condition_exclusions_total',
    help: 'Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.',
    labels: ['type', 'name'],
  });
  const broken = metrics.counter({
    name: 'apiserver_authorization_match_condition_evaluation_errors_total',
    help: 'Total number of errors when an authorization webhook encounters a match condition error broken down by authorizer type and name.',
    labels: ['type', 'name'],
  });
  return {
    asked(seconds: number, result: 'success' | 'canceled' | 'timeout' | 'error'): void {
      evaluations.inc(1, result, name);
      durations.observe(seconds, result, name);
    },
    failedOpen: (result: string) => failOpen.inc(1, result, name),
    excluded: () => excluded.inc(1, 'Webhook', name),
    conditionFailed: () => broken.inc(1, 'Webhook', name),
  };
}

/** Long ones are not worth remembering, and a client chooses them. */
const isShort = ({ resourceAttributes: asked, nonResourceAttributes: path }: AccessReviewSpec): boolean =>
  JSON.stringify(asked ?? path).length <= reviewCacheAttributesMax;

/** The server that a webhook asks. Rejects with an Error in upstream's words for a file that does not name one. */
export async function readAccessServer({ connectionInfo = {} }: WebhookConfiguration): Promise<WebhookServer> {
  if (connectionInfo.type === 'InClusterConfig')
    throw new Error('connectionInfo.type InClusterConfig is for programs in a pod; use KubeConfigFile');
  return readWebhookServer(connectionInfo.kubeConfigFile ?? '');
}

/** Rejects with an Error when the kubeconfig cannot be read. */
export async function createWebhookAuthorizer(
  name: string,
  configuration: WebhookConfiguration,
  deps: WebhookDeps,
): Promise<Authorizer & { close(): void }> {
  const { timeout = 30_000, subjectAccessReviewVersion: version = 'v1' } = configuration;
  const server = await readAccessServer(configuration);
  const client = createReviewClient(server, { timeoutMs: timeout }, deps);
  return { ...webhookAuthorizer({ name, configuration, client, version }, deps), close: () => client.close() };
}

/** What the server said, as long as the configuration lets it count. */
class Answers {
  readonly #known = new Map<string, { status: Status; untilMs: number }>();
  readonly #configuration: WebhookConfiguration;
  readonly #clock: Clock;

  constructor(configuration: WebhookConfiguration, clock: Clock) {
    this.#configuration = configuration;
    this.#clock = clock;
  }

  get(key: string): Status | undefined {
    const found = this.#known.get(key);
    if (found && found.untilMs > this.#clock.monotonic()) return found.status;
    this.#known.delete(key);
    return undefined;
  }

  remember(key: string, status: Status): void {
    const {
      cacheAuthorizedRequests = true,
      authorizedTTL = 0,
      cacheUnauthorizedRequests = true,
      unauthorizedTTL = 0,
    } = this.#configuration;
    const [wanted, lifetimeMs] = status.allowed
      ? [cacheAuthorizedRequests, authorizedTTL]
      : [cacheUnauthorizedRequests, unauthorizedTTL];
    if (!wanted || lifetimeMs <= 0) return;
    const oldest = this.#known.size >= reviewsMax ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, { status, untilMs: this.#clock.monotonic() + lifetimeMs });
  }
}

interface Made {
  name: string;
  configuration: WebhookConfiguration;
  client: ReviewClient;
  version: string;
}

function webhookAuthorizer({ name, configuration, client, version }: Made, { clock, logger, metrics }: WebhookDeps): Authorizer {
  const conditions = compileConditions(configuration.matchConditions ?? []);
  const observe = webhookMetrics(metrics, name);
  const known = new Answers(configuration, clock);
  const closed = configuration.failurePolicy === 'Deny';
  const onError = (error: string): Decision => ({ allowed: false, ...(closed && { denied: true }), reason: '', error });
  const decided = ({ allowed = false, denied = false, reason = '' }: Status): Decision => {
    if (allowed && denied)
      return { allowed: false, denied, reason, error: 'webhook subject access review returned both allow and deny response' };
    return { allowed, ...(denied && { denied }), reason };
  };
  const ask = async (spec: AccessReviewSpec, key: string, cancellation: Cancellation | undefined): Promise<Decision> => {
    const since = clock.monotonic();
    const asked = (result: Parameters<typeof observe.asked>[1]): void =>
      observe.asked((clock.monotonic() - since) / 1000, result);
    try {
      // The older version spells the field in the singular.
      const { groups, ...rest } = spec;
      const review = {
        kind: 'SubjectAccessReview',
        apiVersion: `authorization.k8s.io/${version}`,
        metadata: { creationTimestamp: null },
        spec: { ...rest, [version === 'v1' ? 'groups' : 'group']: groups },
        status: { allowed: false },
      };
      const status = await client.post<Status>(review, 'io.k8s.api.authorization.v1.SubjectAccessReview', cancellation?.signal);
      asked('success');
      if (isShort(spec)) known.remember(key, status);
      return decided(status);
    } catch (error) {
      const { message } = error as Error;
      const isOver = cancellation?.cancelled === true;
      const result = message.includes('context deadline exceeded') ? 'timeout' : 'error';
      asked(isOver ? 'canceled' : result);
      if (!closed && !isOver) observe.failedOpen(result);
      logger.error('Failed to make webhook authorizer request', { name, err: message });
      return onError(message);
    }
  };
  return {
    authorize(attributes, cancellation) {
      const spec = accessReviewOf(attributes);
      const matches = conditionsHold(conditions, spec);
      if (typeof matches === 'string') {
        observe.conditionFailed();
        return onError(matches);
      }
      if (!matches) {
        observe.excluded();
        return { allowed: false, reason: '' };
      }
      const key = JSON.stringify(spec);
      const found = known.get(key);
      return found ? decided(found) : ask(spec, key, cancellation);
    },
    rulesFor: () => ({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'webhook authorizer does not support user rule resolution',
    }),
  };
}
