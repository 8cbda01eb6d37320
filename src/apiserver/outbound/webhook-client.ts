// Posting reviews to webhooks, of admission and of conversion (k8s.io/apiserver/pkg/util/webhook): by URL or Service, TLS always, trusted by the
// configuration's bundle.
import { normalizedPath } from '../platform/files.ts';
import type { WebhookClientConfig } from '#api/admissionregistration/v1';
import { genericServerResponse, unstructuredText } from '#apimachinery/errors';
import type { Clock } from '#utils';
import { createWireClient, type Dial, dialErrorText, type WireClient } from '#wire';
import { remoteConnectionsMax } from '../limits.ts';
import { type ServiceResolver, serviceServerName } from './service-resolver.ts';

/** How Services are reached; those with a URL are reached from this process. */
export interface WebhookReach {
  resolve: ServiceResolver;
  /** Opens connections into the cluster's network. */
  dialService?: Dial;
}

export interface WebhookPost {
  clientConfig: WebhookClientConfig;
  timeoutSeconds: number;
  /** JSON. */
  body: string;
  responseBytesMax: number;
  /** Aborted when nobody waits for the answer any more. */
  cancelled?: AbortSignal | undefined;
}

/** Where a configuration leads: the address, and the name in the certificate. */
interface Way {
  base: string;
  serverName: string;
  path: string;
  dial: Dial | undefined;
}

/** Keeps a client for each client configuration. */
export class WebhookClients {
  readonly #reach: WebhookReach;
  readonly #clock: Clock;
  readonly #clients = new Map<string, WireClient>();

  constructor(reach: WebhookReach, clock: Clock) {
    this.#reach = reach;
    this.#clock = clock;
  }

  /** Configurations changed: connections to old ones go. */
  forget(): void {
    for (const client of this.#clients.values()) client.closeIdle();
    this.#clients.clear();
  }

  /** The webhook's answer. Rejects with an Error that says why there is none, in upstream's words. */
  async post({ clientConfig, timeoutSeconds, body, responseBytesMax, cancelled }: WebhookPost): Promise<string> {
    const abort = new AbortController();
    const timer = this.#clock.setTimer(timeoutSeconds * 1000, () => abort.abort());
    const signal = cancelled ? AbortSignal.any([abort.signal, cancelled]) : abort.signal;
    const shown = (url: string): string => `${url}${url.includes('?') ? '&' : '?'}timeout=${timeoutSeconds}s`;
    let url = '';
    let host = '';
    try {
      url = shown(shownUrl(clientConfig));
      const way = this.#way(clientConfig);
      ({ host } = new URL(way.base));
      const answer = await this.#client(way, clientConfig.caBundle).request({
        method: 'POST',
        path: shown(way.path),
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body,
        signal,
      });
      const text = await answer.text(responseBytesMax);
      if (answer.status < 200 || answer.status > 206)
        throw refusal(answer.status, unstructuredText(text, answer.headers['content-type']));
      return text;
    } catch (error) {
      if (error instanceof Refusal) throw error;
      const why = signal.aborted ? 'context deadline exceeded' : dialErrorText(error, host);
      throw new Error(`Post ${JSON.stringify(url)}: ${why}`, { cause: error });
    } finally {
      timer.cancel();
    }
  }

  #way({ url, service }: WebhookClientConfig): Way {
    if (url !== undefined || !service) {
      const { origin, hostname, pathname, search } = new URL(url ?? '');
      return { base: origin, serverName: hostname, path: cleanPath(pathname) + search, dial: undefined };
    }
    const { namespace, name, port = 443, path = '/' } = service;
    const serverName = serviceServerName(namespace, name);
    const { resolve, dialService: dial } = this.#reach;
    return { base: `https://${resolve(namespace, name, port)}`, serverName, path: cleanPath(path), dial };
  }

  #client({ base, serverName, dial }: Way, caBundle: string | undefined): WireClient {
    const key = JSON.stringify([base, serverName, caBundle, dial !== undefined]);
    let client = this.#clients.get(key);
    if (client) return client;
    if (this.#clients.size >= remoteConnectionsMax) this.forget();
    const ca = caBundle?.trim() ? Buffer.from(caBundle, 'base64') : undefined;
    client = createWireClient({ baseUrl: base, tls: { ...(ca && { ca }), serverName }, ...(dial && { dial }) });
    this.#clients.set(key, client);
    return client;
  }
}

/** Without doubled and trailing slashes, as client-go makes paths: servers of Go redirect what is not clean, and nobody follows. */
const cleanPath = (path: string): string => normalizedPath(`/${path}`).replace(/(?<=.)\/$/, '');

function shownUrl({ url, service }: WebhookClientConfig): string {
  if (url !== undefined || !service) {
    const parsed = URL.canParse(url ?? '') ? new URL(url ?? '') : undefined;
    return parsed ? `${parsed.origin}${cleanPath(parsed.pathname)}${parsed.search}` : (url ?? '');
  }
  const { namespace, name, port = 443, path = '/' } = service;
  return `https://${serviceServerName(namespace, name)}:${port}${cleanPath(path)}`;
}

class Refusal extends Error {}

const refusal = (code: number, text: string): Refusal =>
  new Refusal(genericServerResponse({ code, method: 'POST', resource: { group: '', resource: '' }, name: '', text }).message);
