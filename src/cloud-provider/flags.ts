// Flags that a provider adds to the command line of the manager (upstream: the NamedFlagSets of a vendor's main).

interface Described {
  /** Without the dashes. */
  name: string;
  help: string;
  /** Heading in the help. Default: `Cloud provider`. */
  section?: string;
}
/** `strings` and `stringMap` are comma separated and repeatable; a `duration` is in milliseconds. */
export type ProviderFlag = Described &
  (
    | { type: 'string'; default: string }
    | { type: 'bool'; default: boolean }
    | { type: 'int' | 'float' | 'duration'; default: number }
    | { type: 'strings'; default: string[] }
    | { type: 'stringMap'; default: Record<string, string> }
  );

/** A provider's flags by the key under which `create` gets the value. */
export type ProviderFlags = Readonly<Record<string, ProviderFlag>>;
/** The values of a provider's flags, by their keys. */
export type ProviderFlagValues = Readonly<Record<string, unknown>>;

/** What flags hold that nobody gave. */
export const defaultFlagValues = (flags: ProviderFlags = {}): ProviderFlagValues =>
  Object.fromEntries(Object.entries(flags).map(([key, { default: value }]) => [key, value]));
