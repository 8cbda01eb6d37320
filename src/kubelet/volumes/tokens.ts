// Service account tokens for projected volumes: asked from the API, kept, and renewed when four fifths of their time or a day have passed
// (upstream pkg/kubelet/token token_manager.go).
import type { Pod } from '#api/core/v1';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';

const serviceAccounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const ageMsMax = 24 * 3600_000;
const renewFraction = 0.8;

interface Token {
  token: string;
  expiresAtMs: number;
  issuedAtMs: number;
}

const dueMs = ({ issuedAtMs, expiresAtMs }: Token): number =>
  issuedAtMs + Math.min(ageMsMax, (expiresAtMs - issuedAtMs) * renewFraction);

interface TokenAnswer {
  status?: { token?: string; expirationTimestamp?: string };
}

export class TokenManager {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, Token>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async get(pod: Pod, audience: string | undefined, expirationSeconds: number): Promise<string> {
    return (await this.issue(pod, audience, expirationSeconds)).token;
  }
  /** A token of the pod's service account, good for a while. */
  async issue(pod: Pod, audience: string | undefined, expirationSeconds: number): Promise<Token> {
    const { uid = '', name = '', namespace = '' } = pod.metadata;
    const account = pod.spec?.serviceAccountName || 'default';
    const key = JSON.stringify([uid, account, audience, expirationSeconds]);
    const now = this.#clock.now();
    const known = this.#tokens.get(key);
    if (known && now < dueMs(known)) return known;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    };
    try {
      const answer = await this.#client
        .resource(serviceAccounts, namespace)
        .createSubresource<TokenAnswer>(account, 'token', body);
      const token = answer.status?.token ?? '';
      const expiresAtMs = Date.parse(answer.status?.expirationTimestamp ?? '') || now + expirationSeconds * 1000;
      const issued = { token, expiresAtMs, issuedAtMs: now };
      this.#tokens.set(key, issued);
      return issued;
    } catch (error) {
      if (known && known.expiresAtMs > now) return known;
      throw error;
    }
  }
  forget(podUid: string): void {
    for (const key of this.#tokens.keys()) if (key.startsWith(`["${podUid}"`)) this.#tokens.delete(key);
  }
  /** When the next token has to be renewed; undefined when there are no tokens. */
  nextDueMs(): number | undefined {
    const times = [...this.#tokens.values()].map(dueMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
