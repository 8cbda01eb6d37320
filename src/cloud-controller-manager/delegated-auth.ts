// Who may read the manager's own endpoints: callers show a token, the apiserver says who they are and what they may (delegating authentication
// and authorization of k8s.io/apiserver; answers are kept for 10 s). Health endpoints are open.
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import { delegatedAnswerMs, delegatedAnswersMax } from './limits.ts';

interface User {
  username: string;
  uid?: string;
  groups: string[];
}

export interface CallerRequest {
  method: string;
  /** Without the query. */
  path: string;
  authorization: string | undefined;
  /** Subject of a client certificate that was verified. */
  certificate?: { commonName?: string; organizations?: readonly string[] };
}

export type CallerVerdict = { status: 200 } | { status: 401 | 403 | 500; message: string };

const open = /^\/(healthz|livez|readyz)(\/|$)/;
const verbs: Record<string, string> = { POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' };
const reviews = (group: string, resource: string) => ({ group, version: 'v1', resource });

export class DelegatedAuth {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { answer: Promise<unknown>; untilMs: number }>();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }
  async check(request: CallerRequest): Promise<CallerVerdict> {
    if (open.test(request.path)) return { status: 200 };
    try {
      const user = await this.#identify(request);
      if (!user) return { status: 401, message: 'Unauthorized' };
      const verb = verbs[request.method] ?? 'get';
      if (user.groups.includes('system:masters') || (await this.#allowed(user, verb, request.path))) return { status: 200 };
      return { status: 403, message: `forbidden: User "${user.username}" cannot ${verb} path "${request.path}"` };
    } catch (error) {
      return { status: 500, message: `Internal Server Error: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  async #identify({ authorization = '', certificate }: CallerRequest): Promise<User | undefined> {
    if (certificate?.commonName)
      return { username: certificate.commonName, groups: [...(certificate.organizations ?? []), 'system:authenticated'] };
    const token = /^Bearer\s+(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined)
      return authorization === '' ? { username: 'system:anonymous', groups: ['system:unauthenticated'] } : undefined;
    return this.#keep(`token ${token}`, async () => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: {}, spec: { token } };
      const { status } = (await this.#client.resource(reviews('authentication.k8s.io', 'tokenreviews')).create(review)) as {
        status?: { authenticated?: boolean; user?: Partial<User> & { username: string } };
      };
      return status?.authenticated && status.user ? { ...status.user, groups: status.user.groups ?? [] } : undefined;
    });
  }
  #allowed(user: User, verb: string, path: string): Promise<boolean> {
    return this.#keep(JSON.stringify([user, verb, path]), async () => {
      const { username, uid, groups } = user;
      const spec = { user: username, groups, ...(uid && { uid }), nonResourceAttributes: { path, verb } };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
      const api = reviews('authorization.k8s.io', 'subjectaccessreviews');
      const { status } = (await this.#client.resource(api).create(review)) as { status?: { allowed?: boolean } };
      return status?.allowed === true;
    });
  }
  async #keep<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const known = this.#kept.get(key);
    if (known && known.untilMs > now) return known.answer as Promise<T>;
    const answer = ask();
    this.#kept.delete(key);
    this.#kept.set(key, { answer, untilMs: now + delegatedAnswerMs });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= delegatedAnswersMax) break;
      this.#kept.delete(oldest);
    }
    try {
      return await answer;
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }
}
