// Which rules of security lists the Services of this manager need. What the API says of other load balancers may be older than what was just made, and says
// nothing of who may reach them.
import { type ListWish, type RuleWish, wishKey } from './security-rules.ts';

export interface Claim {
  /** The names of the load balancers that the Service may have. */
  names: readonly string[];
  /** What it wants of each security list. */
  wishes: ReadonlyMap<string, ListWish>;
}
export interface Claims {
  /** The Service is about to get the rules that it needs now. */
  set(uid: string, claim: Claim): void;
  /** It has them, and no others. */
  settled(uid: string): void;
  /** It needs none any more. */
  release(uid: string): void;
  delete(uid: string): void;
  /** Ports for which the Service may have rules: also those of a change that failed, which its load balancer never shows. */
  ports(uid: string): readonly number[];
  /** Whether a Service has claimed what the load balancer of this name needs. */
  isClaimed(name: string): boolean;
  /** Whether another Service needs a rule in a list. */
  wishes(uid: string, listId: string, side: keyof ListWish, rule: RuleWish): boolean;
}

/** Its rules as texts, their ports, and those of rules that it may have beside. */
interface Held {
  names: readonly string[];
  rules: ReadonlySet<string>;
  ports: readonly number[];
  older: readonly number[];
}

const sides = ['ingress', 'egress'] as const;

export function createClaims(): Claims {
  const claims = new Map<string, Held>();
  const ruleText = (listId: string, side: keyof ListWish, rule: RuleWish): string => `${listId} ${side} ${wishKey(rule)}`;
  const portsOf = (uid: string): number[] => {
    const held = claims.get(uid);
    return held ? [...new Set([...held.ports, ...held.older])] : [];
  };
  const change = (uid: string, changes: Partial<Held>): void => {
    const held = claims.get(uid);
    if (held) claims.set(uid, { ...held, ...changes });
  };
  return {
    set(uid, { names, wishes }) {
      const all = [...wishes].flatMap(([listId, wish]) =>
        sides.flatMap((side) => wish[side].map((rule) => ({ text: ruleText(listId, side, rule), port: rule.port }))),
      );
      const rules = new Set(all.map(({ text }) => text));
      claims.set(uid, { names, rules, ports: [...new Set(all.map(({ port }) => port))], older: portsOf(uid) });
    },
    settled: (uid) => change(uid, { older: [] }),
    release: (uid) => change(uid, { names: [], rules: new Set() }),
    delete: (uid) => void claims.delete(uid),
    ports: portsOf,
    isClaimed: (name) => [...claims.values()].some(({ names }) => names.includes(name)),
    wishes: (uid, listId, side, rule) =>
      [...claims].some(([other, { rules }]) => other !== uid && rules.has(ruleText(listId, side, rule))),
  };
}
