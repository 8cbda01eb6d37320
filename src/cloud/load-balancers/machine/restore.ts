// Input of `iptables-restore --noflush` that brings a router's tables from one set of rules to another. Pure.
import { isOwnChain } from '../names.ts';
import { type Chains, hooks, type Rules } from './rules.ts';

/** Chains found in the kernel have unknown rules: they are written again. */
export type KnownChains = ReadonlyMap<string, readonly string[] | undefined>;
export interface KnownRules {
  mangle: KnownChains;
  nat: KnownChains;
  /** Hooks that are in place, as in `hooks`. */
  hooks: { mangle: readonly string[]; nat: readonly string[] };
}
type Table = 'mangle' | 'nat';
const tables: readonly Table[] = ['mangle', 'nat'];

const same = (one: readonly string[] | undefined, other: readonly string[]): boolean =>
  one !== undefined && one.length === other.length && one.every((rule, i) => rule === other[i]);

function tableText(table: Table, before: KnownRules, after: Chains): string[] {
  const known = before[table];
  const wanted: readonly string[] = after.size > 0 ? hooks[table] : [];
  const changed = [...after].filter(([chain, rules]) => !same(known.get(chain), rules));
  const gone = [...known.keys()].filter((chain) => !after.has(chain));
  const lines = [
    ...changed.map(([chain]) => `:${chain} - [0:0]`),
    ...gone.map((chain) => `:${chain} - [0:0]`),
    ...changed.flatMap(([chain, rules]) => rules.map((rule) => `-A ${chain} ${rule}`)),
    ...wanted.filter((hook) => !before.hooks[table].includes(hook)).map((hook) => `-A ${hook}`),
    ...before.hooks[table].filter((hook) => !wanted.includes(hook)).map((hook) => `-D ${hook}`),
    ...gone.map((chain) => `-X ${chain}`),
  ];
  return lines.length > 0 ? [`*${table}`, ...lines, 'COMMIT'] : [];
}

/** Empty when nothing differs. Each table changes in one transaction. */
export function restoreText(before: KnownRules, after: Rules): string {
  const lines = tables.flatMap((table) => tableText(table, before, after[table]));
  return lines.length > 0 ? `${lines.join('\n')}\n` : '';
}

export const noRules: Rules = { mangle: new Map(), nat: new Map() };

/** What is known once `rules` were applied. */
export const knownRules = (rules: Rules): KnownRules => ({
  ...rules,
  hooks: {
    mangle: rules.mangle.size > 0 ? hooks.mangle : [],
    nat: rules.nat.size > 0 ? hooks.nat : [],
  },
});

/** The rules of ours in the output of `iptables-save`. */
export function foundRules(saved: string): KnownRules {
  const found = { mangle: new Map<string, undefined>(), nat: new Map<string, undefined>() };
  const foundHooks = { mangle: [] as string[], nat: [] as string[] };
  let table: Table | undefined;
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = tables.find((name) => line === `*${name}`);
    if (!table) continue;
    const chain = /^:(\S+) /.exec(line)?.[1];
    if (chain && isOwnChain(chain)) found[table].set(chain, undefined);
    const [, hook, target = ''] = /^-A ([A-Z]+ -j (SGLB\S*))$/.exec(line) ?? [];
    if (hook && isOwnChain(target)) foundHooks[table].push(hook);
  }
  return { ...found, hooks: foundHooks };
}
