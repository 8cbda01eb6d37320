// Calling one webhook: AdmissionReview out, answer in (admission.k8s.io/v1).
import type { AdmissionResponse, AdmissionReview } from '#api/admission/v1';
import type { WebhookClientConfig } from '#api/admissionregistration/v1';
import { parseApiVersion } from '#apimachinery/meta';
import { paced } from '#host';
import type { Clock } from '#utils';
import type { AdmissionRequest, EquivalentResource } from '../../registry/generic/admission.ts';
import { readingAnswer } from '../../outbound/read-answer.ts';
import { WebhookClients, type WebhookReach } from '../../outbound/webhook-client.ts';
import { limits } from '../limits.ts';
import { requestKind, type Sight } from '../sight.ts';

/** The webhook could not be asked, or its answer makes no sense: the failure policy decides. */
export class CallFailure extends Error {}

export interface CallerOptions {
  reach: WebhookReach;
  clock: Clock;
  uuid(): string;
}

export interface CallTarget {
  name: string;
  clientConfig: WebhookClientConfig;
  timeoutSeconds: number;
}

/** What is said to the webhook about the request: the version of its rule, and what the client asked for. */
function reviewOf({ request, through, kind, object, oldObject }: Sight, uid: string): AdmissionReview {
  const { user } = request;
  const named = through === 'own' ? request : through;
  const resourceOf = ({ group, version, resource }: EquivalentResource | AdmissionRequest) => ({ group, version, resource });
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid,
      kind,
      resource: resourceOf(named),
      ...(request.subresource !== '' && { subResource: request.subresource, requestSubResource: request.subresource }),
      requestKind: requestKind(request),
      requestResource: resourceOf(request),
      ...(request.name !== '' && { name: request.name }),
      ...(request.namespace !== '' && { namespace: request.namespace }),
      operation: request.operation,
      userInfo: {
        username: user.name,
        ...(user.uid && { uid: user.uid }),
        groups: user.groups,
        ...(user.extra && { extra: user.extra }),
      },
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun: request.dryRun,
      options: Object.keys(request.options).length > 0 ? request.options : null,
    },
  };
}

/** The answer, checked. Throws `CallFailure` with upstream's text. */
export function checkedResponse(review: AdmissionReview, uid: string, mutating: boolean): AdmissionResponse {
  const { response } = review;
  const invalid = (why: string) => new CallFailure(`received invalid webhook response: ${why}`);
  if (!response) throw invalid('webhook response was absent');
  if (response.uid !== uid)
    throw invalid(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`);
  if (review.apiVersion !== 'admission.k8s.io/v1' || review.kind !== 'AdmissionReview') {
    const { group, version } = parseApiVersion(review.apiVersion ?? '');
    const got = `${group}/${version}, Kind=${review.kind ?? ''}`;
    throw invalid(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
  }
  const { patch, patchType } = response;
  if (!mutating) {
    if (patch) throw invalid('validating webhook may not return response.patch');
    if (patchType !== undefined) throw invalid('validating webhook may not return response.patchType');
    return response;
  }
  if (patch && patchType === undefined) throw invalid('webhook returned response.patch but not response.patchType');
  if (!patch && patchType !== undefined) throw invalid('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw invalid('webhook returned invalid response.patchType of ""');
  return response;
}

/** Sends admission reviews to webhooks and reads their answers. */
export class WebhookCaller {
  readonly #clients: WebhookClients;
  readonly #uuid: () => string;

  constructor({ reach, clock, uuid }: CallerOptions) {
    this.#clients = new WebhookClients(reach, clock);
    this.#uuid = uuid;
  }

  /** Configurations changed: connections to old ones go. */
  forget(): void {
    this.#clients.forget();
  }

  /** Asks the webhook. Rejects with `CallFailure`. */
  async call(target: CallTarget, sight: Sight, mutating: boolean): Promise<AdmissionResponse> {
    const uid = this.#uuid();
    const { clientConfig, timeoutSeconds } = target;
    await sight.request.rest?.();
    const body = JSON.stringify(reviewOf(sight, uid));
    const cancelled = sight.request.cancellation?.signal;
    let review: AdmissionReview;
    try {
      const responseBytesMax = limits.webhookResponseBytesMax;
      const text = await this.#clients.post({ clientConfig, timeoutSeconds, body, responseBytesMax, cancelled });
      const rest = sight.request.rest ?? (() => undefined);
      await rest();
      review = await paced(readingAnswer<AdmissionReview>(text, 'io.k8s.api.admission.v1.AdmissionReview'), rest);
    } catch (error) {
      throw new CallFailure(`failed to call webhook: ${(error as Error).message}`, { cause: error });
    }
    await sight.request.rest?.();
    return checkedResponse(review, uid, mutating);
  }
}
