// Several authorizers as one (k8s.io/apiserver/pkg/authorization/union): the first that allows or denies decides.
import { aggregateTexts } from '#apimachinery/field';
import { mastersGroup } from '../authentication/users.ts';
import type { Attributes, UserInfo } from '../request/request.ts';
import type { Authorizer, Decision } from './types.ts';

/** Members of system:masters may do everything, whatever the roles say. */
export const mastersAuthorizer: Authorizer = {
  authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup), reason: '' }),
  rulesFor: (user) =>
    user.groups.includes(mastersGroup)
      ? {
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          incomplete: false,
        }
      : { resourceRules: [], nonResourceRules: [], incomplete: false },
};

const joinReasons = (reasons: readonly string[]): string => reasons.filter((reason) => reason !== '').join('\n');

const noOpinion = (reasons: readonly string[], errors: readonly string[]): Decision => ({
  allowed: false,
  reason: joinReasons(reasons),
  ...(errors.length > 0 && { error: aggregateTexts(errors) }),
});

async function rest(
  authorizers: readonly Authorizer[],
  from: number,
  first: Promise<Decision>,
  attributes: Attributes,
  reasons: string[],
  errors: string[],
): Promise<Decision> {
  let decision = await first;
  for (let i = from; ; i++) {
    if (decision.allowed || decision.denied) return decision;
    reasons.push(decision.reason);
    if (decision.error !== undefined) errors.push(decision.error);
    const next = authorizers[i + 1];
    if (!next) return noOpinion(reasons, errors);
    decision = await next.authorize(attributes);
  }
}

/** Asks in order. Stays synchronous while every authorizer is. */
export function unionAuthorizer(
  authorizers: readonly Authorizer[],
): Authorizer & { rulesFor(user: UserInfo, namespace: string): Rules } {
  return {
    authorize(attributes) {
      const reasons: string[] = [];
      const errors: string[] = [];
      for (const [i, authorizer] of authorizers.entries()) {
        const decision = authorizer.authorize(attributes);
        if (decision instanceof Promise) return rest(authorizers, i, decision, attributes, reasons, errors);
        if (decision.allowed || decision.denied) return decision;
        if (decision.reason !== '') reasons.push(decision.reason);
        if (decision.error !== undefined) errors.push(decision.error);
      }
      return noOpinion(reasons, errors);
    },
    rulesFor(user, namespace) {
      const all: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
      const problems: string[] = [];
      for (const authorizer of authorizers) {
        const rules = authorizer.rulesFor?.(user, namespace);
        if (!rules) continue;
        all.resourceRules.push(...rules.resourceRules);
        all.nonResourceRules.push(...rules.nonResourceRules);
        all.incomplete ||= rules.incomplete;
        if (rules.evaluationError) problems.push(rules.evaluationError);
      }
      return problems.length > 0 ? { ...all, evaluationError: aggregateTexts(problems) } : all;
    },
  };
}

type Rules = ReturnType<NonNullable<Authorizer['rulesFor']>>;
