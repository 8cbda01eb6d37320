// ImagePolicyWebhook: a server that a kubeconfig names decides whether a pod's images may be used (plugin/pkg/admission/imagepolicy;
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#imagepolicywebhook).
import type { Pod } from '#api/core/v1';
import { createReviewClient, readWebhookServer, type ReviewClient } from '../../../outbound/index.ts';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { limits } from '../../limits.ts';
import { definePlugin, deny, handling, type PluginContext, type PluginFactory } from '../../plugin.ts';
import { type ImagePolicy, imagePolicyOf } from './configuration.ts';
import { reviewSpec, type ReviewSpec, type ReviewStatus, reviewTable, reviewType } from './review.ts';

const auditPrefix = 'imagepolicywebhook.image-policy.k8s.io/';

/** What the server said of a review, for as long as it counts; the longest unused goes first. */
class Answers {
  readonly #known = new Map<string, { status: ReviewStatus; untilMs: number }>();
  readonly #clock: PluginContext['clock'];

  constructor(clock: PluginContext['clock']) {
    this.#clock = clock;
  }

  get(key: string): ReviewStatus | undefined {
    const found = this.#known.get(key);
    this.#known.delete(key);
    if (!found || found.untilMs <= this.#clock.monotonic()) return undefined;
    this.#known.set(key, found);
    return found.status;
  }

  remember(key: string, status: ReviewStatus, lifetimeMs: number): void {
    if (lifetimeMs <= 0 || key.length > limits.rememberedImageReviewCharsMax) return;
    const oldest = this.#known.size >= limits.rememberedImageReviewsMax ? this.#known.keys().next().value : undefined;
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, { status, untilMs: this.#clock.monotonic() + lifetimeMs });
  }
}

class ImagePolicyWebhook {
  readonly #policy: ImagePolicy;
  readonly #context: PluginContext;
  readonly #answers: Answers;
  #client: Promise<ReviewClient> | undefined;

  constructor(policy: ImagePolicy, context: PluginContext) {
    this.#policy = policy;
    this.#context = context;
    this.#answers = new Answers(context.clock);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    const { group, resource, subresource, namespace, annotate } = request;
    if (group !== '' || resource !== 'pods' || (subresource !== '' && subresource !== 'ephemeralcontainers')) return;
    const status = await this.#statusOf(reviewSpec(request.object as unknown as Pod, subresource, namespace), request);
    if (!status) return;
    for (const [name, value] of Object.entries(status.auditAnnotations ?? {})) annotate?.(`${auditPrefix}${name}`, value);
    if (status.allowed) return;
    throw deny(
      request,
      status.reason
        ? `image policy webhook backend denied one or more images: ${status.reason}`
        : 'one or more images rejected by webhook backend',
    );
  }

  /** What the server answers; undefined where it did not answer, and the configuration lets pods in all the same. */
  async #statusOf(spec: ReviewSpec, request: AdmissionRequest): Promise<ReviewStatus | undefined> {
    const key = JSON.stringify(spec);
    const known = this.#answers.get(key);
    if (known) return known;
    const { allowMs, denyMs, defaultAllow } = this.#policy;
    try {
      const status = await this.#ask(spec, request);
      this.#answers.remember(key, status, status.allowed ? allowMs : denyMs);
      return status;
    } catch (error) {
      const why = (error as Error).message;
      this.#context.logger.warn('the server of the image policy did not answer', { error: why, allowed: defaultAllow });
      if (!defaultAllow) throw deny(request, why);
      request.annotate?.(`${auditPrefix}failed-open`, 'true');
      return undefined;
    }
  }

  async #ask(spec: ReviewSpec, { cancellation, onAway }: AdmissionRequest): Promise<ReviewStatus> {
    const { clock } = this.#context;
    const since = clock.monotonic();
    try {
      const client = await (this.#client ??= this.#connect());
      const review = {
        kind: 'ImageReview',
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        metadata: { creationTimestamp: null },
        spec,
        status: { allowed: false },
      };
      return await client.post<ReviewStatus>(review, reviewType, cancellation?.signal);
    } finally {
      onAway?.(clock.monotonic() - since);
    }
  }

  async #connect(): Promise<ReviewClient> {
    const { kubeConfigFile, retryMs } = this.#policy;
    try {
      return createReviewClient(await readWebhookServer(kubeConfigFile), { retryMs, table: reviewTable }, this.#context);
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
  }
}

export const imagePolicyWebhook: PluginFactory = (context, configuration) => {
  const webhook = new ImagePolicyWebhook(imagePolicyOf(configuration), context);
  return {
    name: 'ImagePolicyWebhook',
    handles: handling('CREATE', 'UPDATE'),
    validate: (request) => webhook.validate(request),
  };
};

export const plugin = definePlugin('ImagePolicyWebhook', imagePolicyWebhook, {
  onByDefault: false,
  async checkFiles(configuration) {
    await readWebhookServer(imagePolicyOf(configuration).kubeConfigFile);
  },
});
