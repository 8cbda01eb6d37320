// What decides whether a user may do something.
import type { Cancellation } from '../request/cancellation.ts';
import type { Attributes, UserInfo } from '../request/request.ts';

export interface Decision {
  allowed: boolean;
  /** Explicit deny ends the chain. */
  denied?: boolean;
  /** Shown to the user on denial, and kept for explanations. */
  reason: string;
  /** Why an authorizer could not say; unless another allows, the request fails with it. */
  error?: string;
}

export interface Authorizer {
  /** `cancellation`: of the request that this is about; what is asked of others ends with it. */
  authorize(attributes: Attributes, cancellation?: Cancellation): Decision | Promise<Decision>;
  /** What the user may do in a namespace (SelfSubjectRulesReview). */
  rulesFor?(
    user: UserInfo,
    namespace: string,
  ): {
    resourceRules: { verbs: string[]; apiGroups: string[]; resources: string[]; resourceNames?: string[] }[];
    nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[];
    incomplete: boolean;
    /** Why it is incomplete. */
    evaluationError?: string;
  };
}
