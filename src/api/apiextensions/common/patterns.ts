// Compiled patterns of schemas.
const compiled = new Map<string, RegExp | undefined>();
const patternsMax = 4096;

/** The pattern; undefined: it is none, and nothing matches it. */
export function patternOf(source: string): RegExp | undefined {
  if (compiled.has(source)) return compiled.get(source);
  if (compiled.size >= patternsMax) compiled.clear();
  const pattern = make(source, 'u') ?? make(source, '');
  compiled.set(source, pattern);
  return pattern;
}

function make(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
