// A machine for packet rules: it holds what transactions of nft make of a table, as text, and says what becomes of a packet under rules as data.
import { addressNumber, covers, type Range } from '../ranges.ts';
import type { Match, Rule, Ruleset } from '../ruleset.ts';
import { table } from '../text.ts';
import type { Connection } from './reference.ts';

const number = (ip: string): number => addressNumber(ip) ?? -1;
const rangeOf = (text: string): Range => {
  const [first = '', last = first] = text.split('-');
  return [number(first), number(last)];
};

function holds(match: Match, { sets }: Ruleset, { from, to, protocol, port }: Connection): boolean {
  const elements = 'set' in match ? sets.get(match.set)?.elements : undefined;
  const known = protocol.toLowerCase();
  switch (match.kind) {
    case 'reply':
    case 'error':
    case 'ipv6':
      return false;
    case 'self':
      return elements?.has(`${from} . ${to}`) ?? false;
    case 'address': {
      const ip = match.field === 'saddr' ? from : to;
      if (sets.get(match.set)?.type === 'range') return covers([...(elements?.keys() ?? [])].map(rangeOf), number(ip));
      return elements?.has(ip) ?? false;
    }
    case 'ports':
      return match.protocol === known && (match.ports?.some(([first, last]) => port >= first && port <= last) ?? true);
    case 'destination':
      return elements?.has(`${to} . ${known} . ${port}`) ?? false;
  }
}

/** `accept` and `drop` end the way of a packet through one chain that sees forwarded packets. */
function judge(rules: readonly Rule[], ruleset: Ruleset, connection: Connection): 'accept' | 'drop' | undefined {
  for (const { matches, verdict } of rules) {
    if (!matches.every((match) => holds(match, ruleset, connection))) continue;
    if (verdict.kind === 'accept' || verdict.kind === 'drop') return verdict.kind;
    const chain =
      verdict.kind === 'jump'
        ? verdict.chain
        : ruleset.sets.get(verdict.map)?.elements.get(verdict.field === 'saddr' ? connection.from : connection.to);
    if (chain === undefined) continue;
    const target = ruleset.chains.get(chain);
    if (!target) throw new Error(`no chain ${chain}`);
    const decided = judge(target.rules, ruleset, connection);
    if (decided) return decided;
  }
  return undefined;
}

/** Whether a new connection passes all chains. */
export const passes = (ruleset: Ruleset, connection: Connection): boolean =>
  [...ruleset.chains.values()].every(
    ({ priority, rules }) => priority === undefined || judge(rules, ruleset, connection) !== 'drop',
  );

/** Follows transactions as nft does, and refuses what nft refuses. */
export class Kernel {
  #objects: Map<string, { kind: string; lines: Set<string> | string[] }> | undefined;

  apply(text: string): void {
    for (const line of text.split('\n')) if (line !== '') this.#line(line);
  }
  /** All there is, in an order of its own. */
  state(): string[] {
    return [...(this.#objects ?? [])]
      .map(([name, { kind, lines }]) => `${kind} ${name}: ${[...lines].sort().join(' | ')}`)
      .sort();
  }
  #line(line: string): void {
    const [, verb = '', kind = '', rest = ''] = /^(\w+) (\w+) (.*)$/.exec(line) ?? [];
    if (!rest.startsWith(table)) throw new Error(`not ours: ${line}`);
    const [, name = '', body = ''] = /^ ?(\S*) ?(.*)$/.exec(rest.slice(table.length)) ?? [];
    if (kind === 'table') {
      if (verb === 'add') this.#objects ??= new Map();
      else this.#objects = undefined;
      return;
    }
    if (!this.#objects) throw new Error(`no table: ${line}`);
    this.#inTable(this.#objects, { line, verb, kind, name, body });
  }
  #inTable(
    objects: Map<string, { kind: string; lines: Set<string> | string[] }>,
    { line, verb, kind, name, body }: { line: string; verb: string; kind: string; name: string; body: string },
  ): void {
    const found = objects.get(name);
    if (verb === 'add' && (kind === 'set' || kind === 'map')) objects.set(name, { kind: `${kind} ${body}`, lines: new Set() });
    else if (verb === 'add' && kind === 'chain') objects.set(name, { kind: `chain ${body}`, lines: [] });
    else if (!found) throw new Error(`no ${kind} ${name}: ${line}`);
    else if (kind === 'rule') {
      for (const used of this.#usedBy(body)) if (!objects.has(used)) throw new Error(`no ${used}: ${line}`);
      (found.lines as string[]).push(body);
    } else if (verb === 'flush') found.lines = [];
    else if (kind === 'element') {
      for (const element of body.slice(2, -2).split(', ')) {
        const lines = found.lines as Set<string>;
        const key = element.split(' : ')[0] ?? '';
        const old = [...lines].find((one) => one.split(' : ')[0] === key);
        if ((verb === 'add') === (old !== undefined)) throw new Error(`${old ? 'there is' : 'there is no'} ${key}: ${line}`);
        for (const used of this.#usedBy(element)) if (!objects.has(used)) throw new Error(`no ${used}: ${line}`);
        if (verb === 'add') lines.add(element);
        else lines.delete(old ?? '');
      }
    } else if (verb === 'delete') {
      objects.delete(name);
      for (const { lines } of objects.values())
        for (const one of lines) if (this.#usedBy(one).includes(name)) throw new Error(`${name} is in use: ${line}`);
    }
  }
  #usedBy(text: string): string[] {
    return [...text.matchAll(/(?:@|jump )([\w-]+)/g)].map(([, name = '']) => name);
  }
}
