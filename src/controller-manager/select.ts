// Which loops run (`--controllers`): names or aliases, `*` for all that are on by default, `-name` to leave one out. Pure.
export interface Named {
  name: string;
  aliases?: string[];
}

/** Gives the chosen ones in list order. Throws for a name that is none of them. */
export function selectControllers<C extends Named>(all: readonly C[], wanted: readonly string[]): C[] {
  const known = (name: string): C | undefined => all.find((one) => one.name === name || one.aliases?.includes(name));
  const on = new Set<C>();
  const off = new Set<C>();
  for (const word of wanted) {
    if (word === '*') continue;
    const name = word.replace(/^-/, '');
    const found = known(name);
    if (!found) throw new Error(`"${name}" is not in the list of known controllers`);
    (word.startsWith('-') ? off : on).add(found);
  }
  return all.filter((one) => !off.has(one) && (on.has(one) || wanted.includes('*')));
}
