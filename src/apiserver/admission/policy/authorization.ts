// Authorization asked from expressions, which run to their end at once, of authorizers that may take time
// (k8s.io/apiserver/pkg/admission/plugin/authorizer: one answer per question and request).
import type { AuthorizationDecision, AuthorizationQuestion, AuthorizationSource } from '#cel';
import type { Authorizer, Decision } from '../../authorization/types.ts';
import type { UserInfo } from '../../request/request.ts';

/** An expression needs an answer that is on its way: wait for it and evaluate again. No `CelError`, so that no expression absorbs it. */
export class PendingAnswer extends Error {
  readonly answered: Promise<void>;
  constructor(answered: Promise<void>) {
    super('waiting for an authorizer');
    this.answered = answered;
  }
}

const decided = ({ allowed, reason }: Decision): AuthorizationDecision => ({ allowed, reason });
const failed = (error: unknown): AuthorizationDecision => ({
  allowed: false,
  reason: '',
  error: error instanceof Error ? error.message : String(error),
});

const userOf = (user: UserInfo, { serviceAccount }: AuthorizationQuestion): UserInfo =>
  serviceAccount
    ? {
        name: `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${serviceAccount.namespace}`],
      }
    : user;

/** Answers about one user. Throws `PendingAnswer` where the authorizer needs time. */
export function authorizationSource(authorizer: Authorizer, user: UserInfo): AuthorizationSource {
  const answers = new Map<string, AuthorizationDecision>();
  const ask = (question: AuthorizationQuestion): Decision | Promise<Decision> => {
    const { verb, path, group, resource, subresource, namespace, name, fieldSelector, labelSelector } = question;
    return authorizer.authorize({
      user: userOf(user, question),
      verb,
      ...(path === undefined ? { target: { group, version: '*', resource, subresource, namespace, name } } : { path }),
      options: { ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) },
    });
  };
  return (question) => {
    const key = JSON.stringify(question);
    const known = answers.get(key);
    if (known) return known;
    const keep = (answer: AuthorizationDecision): AuthorizationDecision => {
      answers.set(key, answer);
      return answer;
    };
    let given: Decision | Promise<Decision>;
    try {
      given = ask(question);
    } catch (error) {
      return keep(failed(error));
    }
    if (!(given instanceof Promise)) return keep(decided(given));
    throw new PendingAnswer(
      given.then(
        (decision) => void keep(decided(decision)),
        (error: unknown) => void keep(failed(error)),
      ),
    );
  };
}
