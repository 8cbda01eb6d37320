// What is in our table, and the transaction to what should be. Only ports whose rules changed are looked at. Two Services may claim one address and port:
// the one whose name comes first has it, and the other gets it when that one goes. Pure.
import type { DataplaneOptions } from '../dataplane.ts';
import { baseText, type Declaration, sets } from './base.ts';
import { table } from './nft.ts';
import type { NftRules } from './rules.ts';

/** Who wants it, and what they want. */
type Claims<T> = Map<string, Map<string, T>>;

const elementsPerLine = 500;

function first<T>(claims: Map<string, T> | undefined): T | undefined {
  let best: string | undefined;
  for (const id of claims?.keys() ?? []) if (best === undefined || id < best) best = id;
  return best === undefined ? undefined : claims?.get(best);
}

function lines(verb: 'add' | 'delete', set: string, elements: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < elements.length; at += elementsPerLine)
    out.push(`${verb} element ${table} ${set} { ${elements.slice(at, at + elementsPerLine).join(', ')} }`);
  return out;
}

/** Claims on keys, and which keys a change touched, with the value they had. */
class Ledger<T> {
  readonly #claims: Claims<T> = new Map();
  readonly #touched = new Map<string, T | undefined>();
  set(key: string, owner: string, value: T | undefined): void {
    const claims = this.#claims.get(key) ?? new Map<string, T>();
    if (!this.#touched.has(key)) this.#touched.set(key, first(claims));
    if (value === undefined) claims.delete(owner);
    else claims.set(owner, value);
    if (claims.size > 0) this.#claims.set(key, claims);
    else this.#claims.delete(key);
  }
  /** Keys that have another value now. */
  changes(): { key: string; before: T | undefined; after: T | undefined }[] {
    const changed = [...this.#touched]
      .map(([key, before]) => ({ key, before, after: first(this.#claims.get(key)) }))
      .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
    this.#touched.clear();
    return changed;
  }
}

export class ProxyTable {
  readonly #options: DataplaneOptions;
  readonly #elements = new Map(Object.keys(sets).map((name) => [name, new Ledger<string>()]));
  readonly #chains = new Ledger<readonly string[]>();
  readonly #sets = new Ledger<Declaration>();
  #ports: ReadonlyMap<string, NftRules> = new Map();
  #isNew = true;

  constructor(options: DataplaneOptions) {
    this.#options = options;
  }
  /** The transaction to these rules; '' when nothing changed. Whoever cannot apply it throws the table away. */
  to(ports: ReadonlyMap<string, NftRules>): string {
    for (const [id, rules] of this.#ports) if (ports.get(id) !== rules) this.#claim(id, rules, false);
    for (const [id, rules] of ports) if (this.#ports.get(id) !== rules) this.#claim(id, rules, true);
    this.#ports = ports;
    const text = [...(this.#isNew ? baseText(this.#options) : []), ...this.#changes()];
    this.#isNew = false;
    return text.length === 0 ? '' : `${text.join('\n')}\n`;
  }
  #claim(id: string, { elements, chains, sets: own }: NftRules, wanted: boolean): void {
    for (const [set, entries] of Object.entries(elements)) {
      const ledger = this.#elements.get(set) ?? new Ledger<string>();
      this.#elements.set(set, ledger);
      for (const [key, value] of Object.entries(entries)) ledger.set(key, id, wanted ? value : undefined);
    }
    for (const [name, rules] of Object.entries(chains)) this.#chains.set(name, id, wanted ? rules : undefined);
    for (const [name, declaration] of Object.entries(own)) this.#sets.set(name, id, wanted ? declaration : undefined);
  }
  /** What is used is made before who uses it, and goes after them. */
  #changes(): string[] {
    const chains = this.#chains.changes();
    const own = this.#sets.changes();
    const elements = [...this.#elements].map(([set, ledger]) => ({ set, changes: ledger.changes() }));
    const isThere = (value: unknown): boolean => value !== undefined;
    return [
      ...own.flatMap(({ key, before, after }) => (after && !before ? [`add ${after[0]} ${table} ${key} { ${after[1]} }`] : [])),
      ...chains.filter(({ after }) => isThere(after)).map(({ key }) => `add chain ${table} ${key}`),
      ...elements.flatMap(({ set, changes }) =>
        lines(
          'delete',
          set,
          changes.filter(({ before }) => isThere(before)).map(({ key }) => key),
        ),
      ),
      ...chains.filter(({ before }) => isThere(before)).map(({ key }) => `flush chain ${table} ${key}`),
      ...chains.flatMap(({ key, after }) => (after ?? []).map((rule) => `add rule ${table} ${key} ${rule}`)),
      ...elements.flatMap(({ set, changes }) =>
        lines(
          'add',
          set,
          changes.flatMap(({ key, after }) => (after === undefined ? [] : [after === '' ? key : `${key} : ${after}`])),
        ),
      ),
      ...chains.filter(({ after }) => !isThere(after)).map(({ key }) => `delete chain ${table} ${key}`),
      ...own.flatMap(({ key, before, after }) => (before && !after ? [`delete ${before[0]} ${table} ${key}`] : [])),
    ];
  }
}
