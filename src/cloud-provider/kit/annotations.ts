// Annotations of Services, read as Go's strconv reads them, because manifests that work with a vendor's own manager must work here. An error names
// the annotation and its value, for the event that a user sees. Pure.

export interface AnnotationReader {
  /** The text of the annotation; undefined: it is absent or empty. */
  text(name: string): string | undefined;
  boolean(name: string): boolean | undefined;
  integer(name: string, bounds?: { min?: number; max?: number }): number | undefined;
  oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  /** Items between commas, without blanks and empty ones. Absent: none. */
  list(name: string): string[];
  /** `a=1,b`: a key without a value has the value ''. */
  pairs(name: string): Record<string, string>;
  json(name: string): unknown;
}

/** A Service, a Node, or anything else with annotations. */
export interface Annotated {
  metadata: { annotations?: Record<string, string> };
}

const truths: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true])),
  ...Object.fromEntries(['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false])),
};

const unusable = (name: string, value: string, why: string): Error =>
  new Error(`annotation ${name}: ${JSON.stringify(value)} ${why}`);

/** Reads annotations whose names begin with `prefix`. */
export function annotationsOf({ metadata }: Annotated, prefix = ''): AnnotationReader {
  const text = (name: string): string | undefined => metadata.annotations?.[prefix + name]?.trim() || undefined;
  const read =
    <T>(parse: (value: string, fail: (why: string) => Error) => T) =>
    (name: string): T | undefined => {
      const value = text(name);
      return value === undefined ? undefined : parse(value, (why) => unusable(prefix + name, value, why));
    };
  const list = (name: string): string[] =>
    (text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  return {
    text,
    list,
    boolean: read((value, fail) => {
      const known = truths[value];
      if (known === undefined) throw fail('is not a boolean');
      return known;
    }),
    integer: (name, { min = -Infinity, max = Infinity } = {}) =>
      read((value, fail) => {
        const number = Number(value);
        if (!/^[+-]?\d{1,15}$/.test(value)) throw fail('is not an integer');
        if (number < min || number > max) throw fail(`is not between ${min} and ${max}`);
        return number;
      })(name),
    oneOf: (name, words) =>
      read((value, fail) => {
        const found = words.find((word) => word === value);
        if (found === undefined) throw fail(`is not one of ${words.join(', ')}`);
        return found;
      })(name),
    pairs: (name) =>
      Object.fromEntries(
        list(name).flatMap((item) => {
          const [key = '', ...rest] = item.split('=');
          return key === '' ? [] : [[key.trim(), rest.join('=').trim()]];
        }),
      ),
    json: read((value, fail) => {
      try {
        return JSON.parse(value) as unknown;
      } catch {
        throw fail('is not JSON');
      }
    }),
  };
}

/** Throws for an annotation that the vendor knows and this provider does not do, with the reason, rather than passing it over. */
export function refuseAnnotations({ metadata }: Annotated, reasons: Readonly<Record<string, string>>): void {
  for (const [name, reason] of Object.entries(reasons))
    if (metadata.annotations?.[name]) throw new Error(`annotation ${name} is not supported: ${reason}`);
}
