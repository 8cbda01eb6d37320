// The simple paths that custom resources name scale fields and selectable fields by: `.spec.a.b`, `.metadata.annotations['a\.b/c']`.

/** The steps of a path; undefined: a form that is not understood. */
export function parsePath(text: string): (string | number)[] | undefined {
  const steps: (string | number)[] = [];
  const pattern = /\.((?:[^.[\]\\]|\\.)+)|\[(\d+)\]|\[['"]((?:[^'"\\]|\\.)*)['"]\]/gy;
  let at = 0;
  while (at < text.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return undefined;
    steps.push(match[2] === undefined ? (match[1] ?? match[3] ?? '').replace(/\\(.)/g, '$1') : Number(match[2]));
    at = pattern.lastIndex;
  }
  return steps;
}

export function valueAt(object: unknown, steps: readonly (string | number)[]): unknown {
  let value: unknown = object;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Sets a value, making objects on the way. */
export function setAt(object: Record<string, unknown>, steps: readonly (string | number)[], value: unknown): void {
  let holder: Record<string, unknown> = object;
  for (const step of steps.slice(0, -1)) {
    const next = holder[step];
    holder[step] = typeof next === 'object' && next !== null ? next : {};
    holder = holder[step] as Record<string, unknown>;
  }
  holder[steps.at(-1) ?? ''] = value;
}
