// Serves admission webhooks of a provider: AdmissionReview v1 over HTTPS (k8s.io/cloud-provider app/webhooks.go; KEP-2699).
import { DecodeError } from '#apimachinery/schema';
import type { CloudProvider, CloudWebhook } from '#cloud-provider';
import type { Metrics } from '#component-base';
import type { SecureServingOptions } from '#component-base/serving';
import { selectControllers } from '#controller-runtime/manager';
import { type Clock, type Logger, quote } from '#utils';
import { serve, type WireRequest, type WireResponse, type WireServer } from '#wire';

export { webhookServingFlags } from './flags.ts';

export interface WebhookHostOptions {
  webhooks: NonNullable<CloudProvider['webhooks']>;
  /** `--webhooks`. */
  wanted: readonly string[];
  serving: SecureServingOptions;
  metrics: Metrics;
}

/** A request that is not what it should be: the caller's fault, 400. */
class BadReview extends Error {}

interface Review {
  apiVersion?: string;
  kind?: string;
  request?: Parameters<CloudWebhook['admit']>[0];
}

async function readReview(request: WireRequest): Promise<NonNullable<Review['request']>> {
  const type = request.headers['content-type'] ?? '';
  if (type !== 'application/json') throw new BadReview(`Content-Type: ${quote(type)} should be "application/json"`);
  const body = await request.readBody();
  if (body.length === 0) throw new BadReview('admission request HTTP body is empty');
  let review: Review | null;
  try {
    review = JSON.parse(body.toString()) as Review | null;
  } catch (error) {
    throw new BadReview(`could not deserialize incoming admission review: ${describe(error)}`);
  }
  if (review?.apiVersion !== 'admission.k8s.io/v1' || review.kind !== 'AdmissionReview') {
    const { kind = '', apiVersion = '' } = review ?? {};
    throw new BadReview(
      `could not deserialize incoming admission review: no kind ${quote(kind)} is registered for version ${quote(apiVersion)}`,
    );
  }
  if (!review.request) throw new BadReview("admission review can't be used: Request field is nil");
  return review.request;
}

async function answer(webhook: CloudWebhook, request: WireRequest): Promise<{ status: number; type: string; body: string }> {
  const text = 'text/plain; charset=utf-8';
  try {
    const review = await readReview(request);
    const response = await webhook.admit(review);
    const body = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { ...response, uid: review.uid } };
    return { status: 200, type: 'application/json', body: JSON.stringify(body) };
  } catch (error) {
    if (error instanceof BadReview || error instanceof DecodeError)
      return { status: 400, type: text, body: `${error.message}\n` };
    return { status: 500, type: text, body: `error generating admission response: ${describe(error)}\n` };
  }
}

/** Starts to serve the webhooks; undefined when none are wanted. Throws for an unknown name, and rejects when it cannot listen. */
export async function serveWebhooks(
  { webhooks, wanted, serving, metrics }: WebhookHostOptions,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<WireServer | undefined> {
  const all = Object.entries(webhooks).map(([name, webhook]) => ({ name, webhook }));
  for (const word of wanted)
    if (word !== '*' && !all.some(({ name }) => name === word.replace(/^-/, '')))
      throw new Error(`${quote(word.replace(/^-/, ''))} is not in the list of known webhooks`);
  const chosen = selectControllers(all, wanted);
  if (chosen.length === 0) return undefined;
  const labels = ['code', 'webhook'];
  const total = metrics.counter({
    name: 'cloud_provider_webhook_request_total',
    help: 'Requests to webhooks of the provider by status.',
    labels,
  });
  const seconds = metrics.histogram({
    name: 'cloud_provider_webhook_request_duration_seconds',
    help: 'Time of answering webhooks of the provider, by status.',
    labels,
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  });
  const onRequest = async (request: WireRequest, response: WireResponse): Promise<void> => {
    const path = request.path.split('?')[0];
    const found = chosen.find(({ webhook }) => webhook.path === path);
    if (!found) return response.send(404, { 'content-type': 'text/plain; charset=utf-8' }, '404 page not found\n');
    const startMs = clock.monotonic();
    const { status, type, body } = await answer(found.webhook, request);
    if (status !== 200) logger.error('webhook request failed', { webhook: found.name, error: body.trim() });
    total.inc(1, status, found.name);
    seconds.observe((clock.monotonic() - startMs) / 1000, status, found.name);
    response.send(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }, body);
  };
  logger.info('Webhook Handlers enabled', { webhooks: chosen.map(({ name }) => name) });
  return serve({ tls: serving.tls, listen: serving.listen, logger, onRequest });
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
