// Calling one webhook: AdmissionReview out, answer in (admission.k8s.io/v1; k8s.io/apiserver/pkg/util/webhook). TLS always, trusted by the
// configuration's bundle.
import type { AdmissionResponse, AdmissionReview } from '#api/admission/v1';
import type { ServiceReference, WebhookClientConfig } from '#api/admissionregistration/v1';
import type { Service } from '#api/core/v1';
import { genericServerResponse } from '#apimachinery/errors';
import { apiVersionOf, parseApiVersion } from '#apimachinery/meta';
import { createWireClient, type Dial, type WireClient } from '#wire';
import type { Clock } from '#utils';
import type { AdmissionRequest, ReadOnlyCluster } from '../../contracts.ts';
import { limits } from '../limits.ts';

/** The webhook could not be asked, or its answer makes no sense: the failure policy decides. */
export class CallFailure extends Error {}

export interface CallerOptions {
  cluster: ReadOnlyCluster;
  /** Opens connections, e.g. into the cluster's network. */
  dial?: Dial;
  clock: Clock;
  uuid(): string;
}

export interface CallTarget {
  name: string;
  clientConfig: WebhookClientConfig;
  timeoutSeconds: number;
}

const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** What is said to the webhook about the request. */
function reviewOf(request: AdmissionRequest, uid: string): AdmissionReview {
  const { group, version, resource, kind, user, object, oldObject } = request;
  const of = object?.apiVersion ? parseApiVersion(object.apiVersion) : { group, version };
  const gvk = { ...of, kind };
  const gvr = { group, version, resource };
  const typed = <T extends object>(value: T | undefined): T | null =>
    value ? { apiVersion: apiVersionOf(of.group, of.version), kind, ...value } : null;
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid,
      kind: gvk,
      resource: gvr,
      ...(request.subresource !== '' && { subResource: request.subresource, requestSubResource: request.subresource }),
      requestKind: gvk,
      requestResource: gvr,
      ...(request.name !== '' && { name: request.name }),
      ...(request.namespace !== '' && { namespace: request.namespace }),
      operation: request.operation,
      userInfo: {
        username: user.name,
        ...(user.uid && { uid: user.uid }),
        groups: user.groups,
        ...(user.extra && { extra: user.extra }),
      },
      object: typed(object),
      oldObject: typed(oldObject),
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

/** Keeps a client for each client configuration. */
export class WebhookCaller {
  readonly #options: CallerOptions;
  readonly #clients = new Map<string, WireClient>();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** Configurations changed: connections to old ones go. */
  forget(): void {
    for (const client of this.#clients.values()) client.closeIdle();
    this.#clients.clear();
  }

  #service({ namespace, name, port = 443, path = '/' }: ServiceReference): { base: string; shown: string; serverName: string } {
    const service = this.#options.cluster.get<Service>('', 'services', namespace, name);
    const serverName = `${name}.${namespace}.svc`;
    const shown = `https://${serverName}:${port}`;
    if (!service) throw new ReachFailure(shown + path, `service "${name}" not found`);
    if (!service.spec?.ports?.some((entry) => entry.port === port)) {
      throw new ReachFailure(shown + path, `no service port ${port} found for service "${name}"`);
    }
    const { type, clusterIP = '', externalName = '' } = service.spec;
    if (type === 'ExternalName') return { base: `https://${hostPort(externalName, port)}`, shown, serverName };
    if (clusterIP === '' || clusterIP === 'None') throw new ReachFailure(shown + path, `service "${name}" has no cluster IP`);
    return { base: `https://${hostPort(clusterIP, port)}`, shown, serverName };
  }

  #connect({ clientConfig }: CallTarget): { client: WireClient; path: string; url: string } {
    const { url, service, caBundle } = clientConfig;
    const parsed = url === undefined ? undefined : new URL(url);
    const to = parsed
      ? { base: parsed.origin, shown: parsed.origin, serverName: parsed.hostname }
      : this.#service(service as ServiceReference);
    const key = JSON.stringify([to.base, to.serverName, caBundle]);
    let client = this.#clients.get(key);
    if (!client) {
      const ca = caBundle ? Buffer.from(caBundle, 'base64') : undefined;
      const { dial } = this.#options;
      client = createWireClient({
        baseUrl: to.base,
        tls: { ...(ca && { ca }), serverName: to.serverName },
        ...(dial && { dial }),
      });
      this.#clients.set(key, client);
    }
    const path = parsed ? parsed.pathname + parsed.search : (service?.path ?? '/');
    return { client, path, url: to.shown };
  }

  /** Asks the webhook. Rejects with `CallFailure`. */
  async call(target: CallTarget, request: AdmissionRequest, mutating: boolean): Promise<AdmissionResponse> {
    const uid = this.#options.uuid();
    const abort = new AbortController();
    const timer = this.#options.clock.setTimer(target.timeoutSeconds * 1000, () => abort.abort());
    const { signal } = abort;
    const timeout = `timeout=${target.timeoutSeconds}s`;
    let shown = '';
    let review: AdmissionReview;
    try {
      const { client, path, url } = this.#connect(target);
      const full = `${path}${path.includes('?') ? '&' : '?'}${timeout}`;
      shown = `Post ${JSON.stringify(url + full)}: `;
      const answer = await client.request({
        method: 'POST',
        path: full,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(reviewOf(request, uid)),
        signal,
      });
      const text = await answer.text(limits.webhookResponseBytesMax);
      if (answer.status < 200 || answer.status > 206) throw refusal(answer.status, text);
      review = JSON.parse(text) as AdmissionReview;
    } catch (error) {
      throw new CallFailure(`failed to call webhook: ${reasonOf(error, signal, shown, timeout)}`);
    } finally {
      timer.cancel();
    }
    return checkedResponse(review, uid, mutating);
  }
}

/** The target is known but cannot be reached; `shown` is its URL. */
class ReachFailure extends Error {
  readonly shown: string;
  constructor(shown: string, message: string) {
    super(message);
    this.shown = shown;
  }
}

class Refusal extends Error {}

function refusal(status: number, text: string): Refusal {
  const error = genericServerResponse({ code: status, method: 'POST', resource: { group: '', resource: '' }, name: '', text });
  return new Refusal(error.message);
}

function reasonOf(error: unknown, signal: AbortSignal, shown: string, timeout: string): string {
  if (signal.aborted) return `${shown}context deadline exceeded`;
  if (error instanceof Refusal) return error.message;
  if (error instanceof ReachFailure) return `Post ${JSON.stringify(`${error.shown}?${timeout}`)}: ${error.message}`;
  return `${shown}${error instanceof Error ? error.message : String(error)}`;
}
