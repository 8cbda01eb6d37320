// Who may read a component's own endpoints: callers show a certificate or a token, the apiserver says who a token is of and what its owner may
// (delegating authentication and authorization of k8s.io/apiserver; answers are kept for a while). Some paths are open to all.
import { forbidden, StatusError, unauthorized } from '#apimachinery/errors';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import type { Clock } from '#utils';
import { Answers } from './answers.ts';
import { type Authorities, type CallerRequest, CertificateCallers, type User } from './caller.ts';
import { tokenLengthMax } from './limits.ts';

/** What of a client is needed here: reviews are created, a config map is read. */
export interface ReviewClient {
  resource(
    resource: GroupVersionResource,
    namespace?: string,
  ): { create(object: KubeObject): Promise<unknown>; get(name: string): Promise<unknown> };
}

export interface DelegatedAuthOptions extends Authorities {
  /**
   * Where authorities come from that are not given: `strict` and `tolerant` read kube-system/extension-apiserver-authentication, and `tolerant`
   * goes on without it.
   */
  lookup: 'strict' | 'tolerant' | 'skip';
  tokenTtlMs: number;
  allowedTtlMs: number;
  deniedTtlMs: number;
  alwaysAllowPaths: readonly string[];
}

export const defaultDelegatedAuth: DelegatedAuthOptions = {
  lookup: 'skip',
  tokenTtlMs: 10_000,
  allowedTtlMs: 10_000,
  deniedTtlMs: 10_000,
  alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
};

const reviews = (group: string, resource: string) => ({ group, version: 'v1', resource });

/** Throws what the caller gets as an answer. */
export class DelegatedAuth {
  readonly #options: DelegatedAuthOptions;
  readonly #authentication: ReviewClient;
  readonly #authorization: ReviewClient;
  readonly #clock: Clock;
  readonly #users: Answers<User | undefined>;
  readonly #rights: Answers<boolean>;
  #certificates: CertificateCallers;

  constructor(
    options: DelegatedAuthOptions,
    { authentication, authorization, clock }: { authentication: ReviewClient; authorization: ReviewClient; clock: Clock },
  ) {
    this.#options = options;
    this.#authentication = authentication;
    this.#authorization = authorization;
    this.#clock = clock;
    this.#users = new Answers(clock, () => options.tokenTtlMs);
    this.#rights = new Answers(clock, (allowed) => (allowed ? options.allowedTtlMs : options.deniedTtlMs));
    this.#certificates = new CertificateCallers(options, clock);
  }
  /** From now on these authorities are trusted. */
  trust(authorities: Authorities): void {
    this.#certificates = new CertificateCallers(authorities, this.#clock);
  }
  /** Resolves when the caller may. Rejects with a `StatusError` otherwise: 401, 403, or 500 where the apiserver did not say. */
  async check(request: CallerRequest): Promise<void> {
    const user = await this.#identify(request);
    const { path } = request;
    if (user.groups.includes('system:masters') || this.#isOpen(path)) return;
    const verb = request.method.toLowerCase();
    let allowed: boolean;
    try {
      allowed = await this.#allowed(user, verb, path);
    } catch (error) {
      throw new StatusError({ code: 500, reason: 'InternalError', message: `Internal Server Error: ${describe(error)}` });
    }
    if (!allowed) throw forbidden({ group: '', resource: '' }, '', `User "${user.username}" cannot ${verb} path "${path}"`);
  }
  #isOpen(path: string): boolean {
    return this.#options.alwaysAllowPaths.some((open) =>
      open.endsWith('*') ? path.startsWith(open.slice(0, -1)) : path === open,
    );
  }
  async #identify(request: CallerRequest): Promise<User> {
    const authorization = String(request.headers['authorization'] ?? '');
    try {
      const certified = this.#certificates.identify(request);
      if (certified) return certified;
      const token = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1];
      if (token === undefined) return { username: 'system:anonymous', groups: ['system:unauthenticated'] };
      const user = token.length > tokenLengthMax ? undefined : await this.#users.get(token, () => this.#review(token));
      if (user) return user;
    } catch {
      // A caller whose word cannot be checked is nobody, as upstream has it.
    }
    throw unauthorized('Unauthorized');
  }
  async #review(token: string): Promise<User | undefined> {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
    const api = this.#authentication.resource(reviews('authentication.k8s.io', 'tokenreviews'));
    const { status } = (await api.create(review)) as {
      status?: { authenticated?: boolean; user?: Partial<User> & { username: string } };
    };
    return status?.authenticated && status.user ? { ...status.user, groups: status.user.groups ?? [] } : undefined;
  }
  #allowed(user: User, verb: string, path: string): Promise<boolean> {
    return this.#rights.get(JSON.stringify([user, verb, path]), async () => {
      const { username, uid, groups, extra } = user;
      const spec = {
        user: username,
        groups,
        ...(uid && { uid }),
        ...(extra && { extra }),
        nonResourceAttributes: { path, verb },
      };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
      const api = this.#authorization.resource(reviews('authorization.k8s.io', 'subjectaccessreviews'));
      const { status } = (await api.create(review)) as { status?: { allowed?: boolean } };
      return status?.allowed === true;
    });
  }
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
