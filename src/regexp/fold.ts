// Characters that are the same to `(?i)`: simple case folding of Unicode.

let cased: number[] | undefined;
const lastCased = 0x1e943;

/** Every character that has another case. */
function casedRunes(): number[] {
  if (cased) return cased;
  const changes = /[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u;
  cased = [];
  for (let rune = 0; rune <= lastCased; rune++) if (changes.test(String.fromCodePoint(rune))) cased.push(rune);
  return cased;
}

const orbits = new Map<number, readonly number[]>();

/** The characters that `matches`, which asks for `rune` in any case, lets pass. */
export function orbitOf(rune: number, matches: (other: number) => boolean): readonly number[] {
  const known = orbits.get(rune);
  if (known) return known;
  const orbit = casedRunes().filter(matches);
  orbits.set(rune, orbit);
  return orbit;
}
