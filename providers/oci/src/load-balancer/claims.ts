// Which rules of security lists the Services of this manager need. What the API says of other load balancers may be older than what was just made, and says
// nothing of who may reach them.
import { type ListWish, type RuleWish, wishKey } from './security-rules.ts';

export interface Claim {
  /** Of the load balancers that the Service may have. */
  names: readonly string[];
  /** By security list. */
  wishes: ReadonlyMap<string, ListWish>;
}
export interface Claims {
  set(uid: string, claim: Claim): void;
  delete(uid: string): void;
  /** Whether a Service has claimed what the load balancer of this name needs. */
  isClaimed(name: string): boolean;
  /** Whether another Service needs a rule in a list. */
  wishes(uid: string, listId: string, side: keyof ListWish, rule: RuleWish): boolean;
}

export function createClaims(): Claims {
  /** By Service: names, and its rules as texts. */
  const claims = new Map<string, { names: readonly string[]; rules: ReadonlySet<string> }>();
  const ruleText = (listId: string, side: keyof ListWish, rule: RuleWish): string => `${listId} ${side} ${wishKey(rule)}`;
  return {
    set(uid, { names, wishes }) {
      const rules = [...wishes].flatMap(([listId, wish]) =>
        (['ingress', 'egress'] as const).flatMap((side) => wish[side].map((rule) => ruleText(listId, side, rule))),
      );
      claims.set(uid, { names, rules: new Set(rules) });
    },
    delete: (uid) => void claims.delete(uid),
    isClaimed: (name) => [...claims.values()].some(({ names }) => names.includes(name)),
    wishes: (uid, listId, side, rule) =>
      [...claims].some(([other, { rules }]) => other !== uid && rules.has(ruleText(listId, side, rule))),
  };
}
