// Who asks, and whether they may: client certificates, bearer tokens by TokenReview, rights by SubjectAccessReview on nodes/<part>
// (upstream pkg/kubelet/server/auth.go, apiserver's delegating authentication and authorization).
import { own } from '#utils';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import type { WireRequestHead } from '#wire';

export interface Identity {
  username: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export interface AuthOptions {
  client: KubeClient;
  clock: Clock;
  nodeName: string;
  /** KubeletConfiguration authentication.anonymous.enabled. */
  anonymous: boolean;
  /** authentication.webhook.enabled: ask the API about bearer tokens. */
  tokenReview: boolean;
  /** authorization.mode. */
  authorization: 'Webhook' | 'AlwaysAllow';
}

interface Cached<T> {
  value: T;
  untilMs: number;
}

const tokenTtlMs = 120_000;
const allowedTtlMs = 300_000;
const deniedTtlMs = 30_000;
const cacheMax = 1024;

const verbs: Record<string, string> = { POST: 'create', GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

const under = (path: string, root: string): boolean => path === root || path.startsWith(`${root}/`);

/** Parts of the node API a path belongs to, the narrower first (KubeletFineGrainedAuthz). */
export function subresourcesOf(path: string): string[] {
  const fine =
    under(path, '/pods') || under(path, '/runningpods')
      ? ['pods']
      : under(path, '/healthz')
        ? ['healthz']
        : under(path, '/configz')
          ? ['configz']
          : [];
  const coarse: [string, string][] = [
    ['/stats', 'stats'],
    ['/metrics', 'metrics'],
    ['/logs', 'log'],
    ['/checkpoint', 'checkpoint'],
    ['/statusz', 'statusz'],
    ['/flagz', 'configz'],
  ];
  return [...fine, coarse.find(([root]) => under(path, root))?.[1] ?? 'proxy'];
}

/** Keeps answers of the API for a while. */
class Answers<T> {
  readonly #entries = new Map<string, Cached<T>>();

  get(key: string, now: number): T | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.untilMs > now ? entry.value : undefined;
  }
  set(key: string, value: T, untilMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > cacheMax && !oldest.done) this.#entries.delete(oldest.value);
  }
}

export type Verdict = { status: 200; identity: Identity } | { status: 401 | 403 | 500; message: string };

export class KubeletAuth {
  readonly #options: AuthOptions;
  readonly #tokens = new Answers<Identity | 'unknown'>();
  readonly #rights = new Answers<boolean>();

  constructor(options: AuthOptions) {
    this.#options = options;
  }

  async check(request: WireRequestHead): Promise<Verdict> {
    const path = request.path.split('?')[0] ?? '/';
    try {
      const identity = await this.#identify(request);
      if (identity === undefined) return { status: 401, message: 'Unauthorized' };
      const verb = own(verbs, request.method) ?? '';
      const names = subresourcesOf(path);
      for (const name of names) if (await this.#allowed(identity, verb, name)) return { status: 200, identity };
      const [first] = names;
      return {
        status: 403,
        message: `Forbidden (user=${identity.username}, verb=${verb}, resource=nodes, subresource(s)=[${names.join(' ') || first}])`,
      };
    } catch (error) {
      return { status: 500, message: `Authorization error: ${(error as Error).message}` };
    }
  }

  async #identify({ peerCertificate, headers }: WireRequestHead): Promise<Identity | undefined> {
    if (peerCertificate?.authorized) {
      const { commonName = '', organizations = [] } = peerCertificate.subject;
      return { username: commonName, groups: [...organizations, 'system:authenticated'] };
    }
    const token = /^Bearer\s+(\S+)$/i.exec(String(headers['authorization'] ?? ''))?.[1];
    if (token !== undefined) return this.#options.tokenReview ? this.#review(token) : undefined;
    return this.#options.anonymous ? { username: 'system:anonymous', groups: ['system:unauthenticated'] } : undefined;
  }
  async #review(token: string): Promise<Identity | undefined> {
    const now = this.#options.clock.now();
    const known = this.#tokens.get(token, now);
    if (known !== undefined) return known === 'unknown' ? undefined : known;
    const api = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
    const { status } = (await this.#options.client.resource(api).create(review)) as {
      status?: { authenticated?: boolean; user?: Identity };
    };
    const identity = status?.authenticated && status.user ? { ...status.user, groups: status.user.groups ?? [] } : undefined;
    this.#tokens.set(token, identity ?? 'unknown', now + tokenTtlMs);
    return identity;
  }
  async #allowed(identity: Identity, verb: string, subresource: string): Promise<boolean> {
    if (this.#options.authorization === 'AlwaysAllow') return true;
    const now = this.#options.clock.now();
    const key = JSON.stringify([identity, verb, subresource]);
    const known = this.#rights.get(key, now);
    if (known !== undefined) return known;
    const api = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' };
    const { username, uid, groups, extra } = identity;
    const spec = {
      user: username,
      groups,
      ...(uid && { uid }),
      ...(extra && { extra }),
      resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: this.#options.nodeName },
    };
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    const { status } = (await this.#options.client.resource(api).create(review)) as { status?: { allowed?: boolean } };
    const allowed = status?.allowed === true;
    this.#rights.set(key, allowed, now + (allowed ? allowedTtlMs : deniedTtlMs));
    return allowed;
  }
}
