// Rules in security lists for load balancers: who may reach their ports, and that they may reach the nodes. All Services of a cluster share the lists,
// with other clusters and whoever writes to them: rules carry the mark of each cluster that needs them, and none without it is removed. Pure.
import type { EgressRule, IngressRule, PortOptions, SecurityList } from '../api/types.ts';
import { isListRuleMark } from '../names.ts';

export interface RuleWish {
  /** Who comes, or where to. */
  cidr: string;
  port: number;
}
export interface ListWish {
  ingress: RuleWish[];
  egress: RuleWish[];
}

const tcp = '6';
const onePort = (options: PortOptions | undefined): number | undefined => {
  const { destinationPortRange: range, sourcePortRange } = options ?? {};
  return range && !sourcePortRange && range.min === range.max ? range.min : undefined;
};

interface Rule {
  cidr: string;
  protocol: string;
  isStateless?: boolean;
  tcpOptions?: PortOptions;
  description?: string;
}
/** The port of a rule; undefined where it is not a rule for one port of TCP. */
const portOf = ({ protocol, isStateless, tcpOptions }: Omit<Rule, 'cidr'>): number | undefined =>
  protocol === tcp && !isStateless ? onePort(tcpOptions) : undefined;

/** Equal keys: the same rule of one side of a list. */
export const wishKey = ({ cidr, port }: RuleWish): string => `${cidr} ${port}`;

export interface RewriteOptions {
  mark: string;
  /** What is to be there. */
  wish: ListWish;
  /** Ports of the Service, now and before: rules of the cluster for these that are not wished for go. */
  ports: ReadonlySet<number>;
  /** Whether another Service of the cluster needs a rule. */
  isClaimed(side: keyof ListWish, rule: RuleWish): boolean;
  /** Ports of other load balancers, of which nobody here knows whose they are. */
  used: ReadonlySet<number>;
}

// Clusters that need the same rule share it: its description has the mark of each.
const separator = '; ';
const descriptionCharactersMax = 255;
const marksOf = ({ description = '' }: Pick<Rule, 'description'>): string[] => description.split(separator);

function without<R extends Pick<Rule, 'description'>>(rule: R, mark: string): R | undefined {
  const others = marksOf(rule).filter((one) => one !== mark);
  return others.length > 0 ? { ...rule, description: others.join(separator) } : undefined;
}
/** With the mark of this cluster beside those of others. What somebody else has made without any stays as it is. */
function withMark<R extends Pick<Rule, 'description'>>(rule: R, mark: string): R {
  const all = marksOf(rule);
  if (all.includes(mark) || !all.some(isListRuleMark)) return rule;
  const description = [...all, mark].join(separator);
  return description.length > descriptionCharactersMax ? rule : { ...rule, description };
}

function rewriteRules<R extends Omit<Rule, 'cidr'>>(
  side: keyof ListWish,
  rules: readonly R[],
  cidrOf: (rule: R) => string,
  { mark, ports, isClaimed, used, wish }: RewriteOptions,
  make: (wish: RuleWish) => R,
): R[] | undefined {
  const wanted = new Map(wish[side].map((one) => [wishKey(one), one]));
  const keyOf = (rule: R): string | undefined => {
    const port = portOf(rule);
    return port === undefined ? undefined : wishKey({ cidr: cidrOf(rule), port });
  };
  const kept = rules.flatMap((rule): R[] => {
    const port = portOf(rule);
    if (wanted.has(keyOf(rule) ?? '')) return [withMark(rule, mark)];
    if (port === undefined || !marksOf(rule).includes(mark) || !ports.has(port)) return [rule];
    if (isClaimed(side, { cidr: cidrOf(rule), port })) return [rule];
    const left = without(rule, mark) ?? (used.has(port) ? rule : undefined);
    return left ? [left] : [];
  });
  const there = new Set(kept.map(keyOf));
  const missing = [...wanted].flatMap(([one, wish]) => (there.has(one) ? [] : [make(wish)]));
  const isSame = missing.length === 0 && kept.length === rules.length && kept.every((rule, at) => rule === rules[at]);
  return isSame ? undefined : [...kept, ...missing];
}

const common = ({ port }: RuleWish, mark: string) => ({
  protocol: tcp,
  isStateless: false,
  tcpOptions: { destinationPortRange: { min: port, max: port } },
  description: mark,
});

/** The list as it should be; undefined: it is so. */
export function rewritten(list: SecurityList, options: RewriteOptions): SecurityList | undefined {
  const { mark } = options;
  const ingress = rewriteRules<IngressRule>(
    'ingress',
    list.ingressSecurityRules,
    ({ source }) => source,
    options,
    (one) => ({
      ...common(one, mark),
      source: one.cidr,
      sourceType: 'CIDR_BLOCK',
    }),
  );
  const egress = rewriteRules<EgressRule>(
    'egress',
    list.egressSecurityRules,
    ({ destination }) => destination,
    options,
    (one) => ({
      ...common(one, mark),
      destination: one.cidr,
      destinationType: 'CIDR_BLOCK',
    }),
  );
  if (!ingress && !egress) return undefined;
  return {
    ...list,
    ingressSecurityRules: ingress ?? list.ingressSecurityRules,
    egressSecurityRules: egress ?? list.egressSecurityRules,
  };
}

/** Whether something of the cluster for one of these ports is in the list. */
export const concerns = (list: SecurityList, mark: string, ports: ReadonlySet<number>): boolean =>
  [...list.ingressSecurityRules, ...list.egressSecurityRules].some(
    (rule) => marksOf(rule).includes(mark) && ports.has(portOf(rule) ?? 0),
  );

/** Ports of a load balancer: where it listens, and where it reaches its backends and asks for their health. */
export interface UsedPorts {
  listeners: readonly number[];
  backends: readonly number[];
  health: readonly number[];
}
export interface Network {
  listId: string;
  cidrs: readonly string[];
}

export interface WishOptions {
  mode: 'All' | 'Frontend';
  ports: UsedPorts;
  sourceRanges: readonly string[];
  /** Clients' addresses reach the nodes. */
  preservesSource: boolean;
  balancers: readonly Network[];
  nodes: readonly Network[];
}

/** What is wished for, by security list. */
export function wishesOf(options: WishOptions): Map<string, ListWish> {
  const { mode, ports, sourceRanges, preservesSource, balancers, nodes } = options;
  const wishes = new Map<string, ListWish>();
  const at = (listId: string): ListWish => {
    const there = wishes.get(listId) ?? { ingress: [], egress: [] };
    wishes.set(listId, there);
    return there;
  };
  const each = (cidrs: readonly string[], numbers: readonly number[]): RuleWish[] =>
    cidrs.flatMap((cidr) => [...new Set(numbers)].map((port) => ({ cidr, port })));
  for (const { listId } of balancers) at(listId).ingress.push(...each(sourceRanges, ports.listeners));
  if (mode === 'Frontend') return wishes;
  const behind = [...ports.backends, ...ports.health];
  for (const { listId } of balancers) for (const { cidrs } of nodes) at(listId).egress.push(...each(cidrs, behind));
  for (const { listId } of nodes) {
    for (const { cidrs } of balancers) at(listId).ingress.push(...each(cidrs, behind));
    if (preservesSource) at(listId).ingress.push(...each(sourceRanges, ports.backends));
  }
  return wishes;
}
