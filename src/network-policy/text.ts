// The input of `nft -f -`: one transaction that brings the table from one ruleset to another. Pure.
import { elementsPerLine } from './limits.ts';
import { type Chain, isEmpty, type Match, type NamedSet, noRules, type Rule, type Ruleset, type SetType } from './ruleset.ts';

/** The name of our table, beside which nothing is ever touched. */
export const table = 'inet kube-network-policy';

const types: Readonly<Record<SetType, string>> = {
  address: 'type ipv4_addr;',
  pair: 'type ipv4_addr . ipv4_addr;',
  range: 'type ipv4_addr; flags interval;',
  destination: 'type ipv4_addr . inet_proto . inet_service;',
  verdict: 'type ipv4_addr : verdict;',
};

const portText = ([first, last]: readonly [number, number]): string => (first === last ? `${first}` : `${first}-${last}`);

function matchText(match: Match): string {
  switch (match.kind) {
    case 'reply':
      return 'ct direction reply ct state established,related';
    case 'error':
      return 'meta l4proto icmp ct state related';
    case 'self':
      return `ip saddr . ip daddr @${match.set}`;
    case 'ipv6':
      return 'meta nfproto ipv6';
    case 'address':
      return `ip ${match.field} @${match.set}`;
    case 'ports':
      return match.ports
        ? `${match.protocol} dport { ${match.ports.map(portText).join(', ')} }`
        : `meta l4proto ${match.protocol}`;
    case 'destination':
      return `ip daddr . meta l4proto . th dport @${match.set}`;
  }
}

function verdictText({ verdict }: Rule): string {
  if (verdict.kind === 'jump') return `jump ${verdict.chain}`;
  return verdict.kind === 'lookup' ? `ip ${verdict.field} vmap @${verdict.map}` : verdict.kind;
}

const ruleText = (rule: Rule): string =>
  [...rule.matches.map(matchText), verdictText(rule), ...(rule.comment ? [`comment "${rule.comment}"`] : [])].join(' ');

const rulesText = (name: string, { rules }: Chain): string[] =>
  rules.map((rule) => `add rule ${table} ${name} ${ruleText(rule)}`);

const chainText = (name: string, { priority }: Chain): string =>
  priority === undefined
    ? `add chain ${table} ${name}`
    : `add chain ${table} ${name} { type filter hook forward priority ${priority}; policy accept; }`;

const setText = (name: string, { type }: NamedSet): string =>
  `add ${type === 'verdict' ? 'map' : 'set'} ${table} ${name} { ${types[type]} }`;

function elementsText(verb: 'add' | 'delete', name: string, elements: readonly string[]): string[] {
  const lines: string[] = [];
  for (let at = 0; at < elements.length; at += elementsPerLine)
    lines.push(`${verb} element ${table} ${name} { ${elements.slice(at, at + elementsPerLine).join(', ')} }`);
  return lines;
}

const withVerdict = ([element, chain]: readonly [string, string]): string =>
  chain === '' ? element : `${element} : jump ${chain}`;

/** Elements that went, or lead elsewhere now; and those that came, or lead elsewhere. */
function changes(before: NamedSet | undefined, after: NamedSet | undefined): { gone: string[]; come: string[] } {
  if (before === after) return { gone: [], come: [] };
  const gone = [...(before?.elements ?? [])].filter(([key, chain]) => after?.elements.get(key) !== chain).map(([key]) => key);
  const come = [...(after?.elements ?? [])].filter(([key, chain]) => before?.elements.get(key) !== chain).map(withVerdict);
  return { gone, come };
}

const linesOf = ({ rules }: Chain): string => rules.map(ruleText).join('\n');

/**
 * The text from `before` (in the kernel now; undefined: whatever it is) to `after`; '' when nothing is to be done. Everything new is declared before
 * it is used, and nothing is deleted before the last rule that used it.
 */
export function transaction(before: Ruleset | undefined, after: Ruleset): string {
  const all = before === undefined || isEmpty(before) || isEmpty(after);
  const from = all ? noRules : (before as Ruleset);
  const isNew = <T>(of: 'sets' | 'chains', entries: ReadonlyMap<string, T>) =>
    [...entries].filter(([name]) => !from[of].has(name));
  const left = <T>(of: 'sets' | 'chains', entries: ReadonlyMap<string, T>) =>
    [...entries].filter(([name]) => !after[of].has(name));
  const changed = [...after.chains].filter(([name, chain]) => {
    const old = from.chains.get(name);
    return old !== chain && (!old || linesOf(old) !== linesOf(chain));
  });
  const goneChains = left('chains', from.chains);
  const goneSets = left('sets', from.sets);
  const kept = [...after.sets].map(([name, set]) => ({ name, ...changes(from.sets.get(name), set) }));
  const lines = [
    ...isNew('sets', after.sets).map(([name, set]) => setText(name, set)),
    ...isNew('chains', after.chains).map(([name, chain]) => chainText(name, chain)),
    ...kept.flatMap(({ name, gone }) => elementsText('delete', name, gone)),
    ...kept.flatMap(({ name, come }) => elementsText('add', name, come)),
    ...changed.filter(([name]) => from.chains.has(name)).map(([name]) => `flush chain ${table} ${name}`),
    ...changed.flatMap(([name, chain]) => rulesText(name, chain)),
    ...goneChains.map(([name]) => `flush chain ${table} ${name}`),
    ...goneChains.map(([name]) => `delete chain ${table} ${name}`),
    ...goneSets.map(([name, { type }]) => `delete ${type === 'verdict' ? 'map' : 'set'} ${table} ${name}`),
  ];
  const start = all && (before === undefined || !isEmpty(before)) ? removal : [];
  const made = all && lines.length > 0 ? [`add table ${table}`] : [];
  const text = [...start, ...made, ...lines];
  return text.length === 0 ? '' : `${text.join('\n')}\n`;
}

/** Takes the table away whether or not it is there. */
export const removal: readonly string[] = [`add table ${table}`, `delete table ${table}`];
