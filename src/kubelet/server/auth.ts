// Who asks, and whether they may: client certificates, bearer tokens by TokenReview, rights by SubjectAccessReview on nodes/<part>
// (upstream pkg/kubelet/server/auth.go, apiserver's delegating authentication and authorization).
import { Answers, tokenLengthMax } from '#component-base/serving';
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

const tokenTtlMs = 120_000;
const allowedTtlMs = 300_000;
const deniedTtlMs = 30_000;

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

export type Verdict = { status: 200; identity: Identity } | { status: 401 | 403 | 500; message: string };

export class KubeletAuth {
  readonly #options: AuthOptions;
  readonly #tokens: Answers<Identity | undefined>;
  readonly #rights: Answers<boolean>;

  constructor(options: AuthOptions) {
    this.#options = options;
    this.#tokens = new Answers(options.clock, () => tokenTtlMs);
    this.#rights = new Answers(options.clock, (allowed) => (allowed ? allowedTtlMs : deniedTtlMs));
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
    if (token !== undefined) {
      const isAsked = this.#options.tokenReview && token.length <= tokenLengthMax;
      return isAsked ? this.#tokens.get(token, () => this.#review(token)) : undefined;
    }
    return this.#options.anonymous ? { username: 'system:anonymous', groups: ['system:unauthenticated'] } : undefined;
  }
  async #review(token: string): Promise<Identity | undefined> {
    const api = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
    const { status } = (await this.#options.client.resource(api).create(review)) as {
      status?: { authenticated?: boolean; user?: Identity };
    };
    return status?.authenticated && status.user ? { ...status.user, groups: status.user.groups ?? [] } : undefined;
  }
  async #allowed(identity: Identity, verb: string, subresource: string): Promise<boolean> {
    if (this.#options.authorization === 'AlwaysAllow') return true;
    return this.#rights.get(JSON.stringify([identity, verb, subresource]), () => this.#ask(identity, verb, subresource));
  }
  async #ask(identity: Identity, verb: string, subresource: string): Promise<boolean> {
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
    return status?.allowed === true;
  }
}
