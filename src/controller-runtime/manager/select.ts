// Which loops run (`--controllers`): names or aliases, `*` for all that are on by default, `-name` to leave one out (k8s.io/controller-manager app IsControllerEnabled).
// Pure.
export interface Named {
  name: string;
  aliases?: readonly string[];
  /** `*` is not enough. */
  disabledByDefault?: boolean;
}

const isCalled = ({ name, aliases }: Named, word: string): boolean => name === word || (aliases?.includes(word) ?? false);

/** Gives the chosen ones in list order. The first word about a loop decides. Throws for a name that no loop has. */
export function selectControllers<C extends Named>(all: readonly C[], wanted: readonly string[]): C[] {
  for (const word of wanted) {
    const name = word.replace(/^-/, '');
    if (name !== '*' && !all.some((one) => isCalled(one, name)))
      throw new Error(`"${name}" is not in the list of known controllers`);
  }
  return all.filter((one) => {
    const decisive = wanted.find((word) => isCalled(one, word.replace(/^-/, '')));
    return decisive === undefined ? wanted.includes('*') && !one.disabledByDefault : !decisive.startsWith('-');
  });
}
