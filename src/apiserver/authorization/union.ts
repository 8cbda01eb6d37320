// Several authorizers as one (k8s.io/apiserver/pkg/authorization/union): the first that allows or denies decides.
import { aggregateTexts } from '#apimachinery/field';
import { mastersGroup } from '../authentication/users.ts';
import type { UserInfo } from '../request/request.ts';
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

/** A question on its way through the authorizers, with what those before said who could not decide. */
interface Asking {
  authorizers: readonly Authorizer[];
  asked: Parameters<Authorizer['authorize']>;
  reasons: string[];
  errors: string[];
}

function note({ reason, error }: Decision, { reasons, errors }: Asking): void {
  reasons.push(reason);
  if (error !== undefined) errors.push(error);
}

/** Goes on behind the authorizer at `from`, which decides later. */
async function rest(asking: Asking, from: number, first: Promise<Decision>): Promise<Decision> {
  const { authorizers, asked, reasons, errors } = asking;
  let decision = await first;
  for (let i = from; ; i++) {
    if (decision.allowed || decision.denied) return decision;
    note(decision, asking);
    const next = authorizers[i + 1];
    if (!next) return noOpinion(reasons, errors);
    decision = await next.authorize(...asked);
  }
}

/** Asks in order. Stays synchronous while every authorizer is. */
export function unionAuthorizer(
  authorizers: readonly Authorizer[],
): Authorizer & { rulesFor(user: UserInfo, namespace: string): Rules } {
  return {
    authorize(...asked) {
      const asking: Asking = { authorizers, asked, reasons: [], errors: [] };
      for (const [i, authorizer] of authorizers.entries()) {
        const decision = authorizer.authorize(...asked);
        if (decision instanceof Promise) return rest(asking, i, decision);
        if (decision.allowed || decision.denied) return decision;
        note(decision, asking);
      }
      return noOpinion(asking.reasons, asking.errors);
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
