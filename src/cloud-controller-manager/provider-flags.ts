// The flags of a provider on the manager's command line: which provider is known only from that command line, so two flags are looked for first.
import { type Flag, FlagError, type FlagTable, flag } from '#component-base';
import { type CloudProviderDefinition, defaultFlagValues, type ProviderFlag, type ProviderFlagValues } from '#cloud-provider';

const keyPrefix = 'provider.';

function flagFor({ type, section = 'Cloud provider', ...rest }: ProviderFlag): Flag<unknown> {
  const make = flag[type] as (options: object) => Flag<unknown>;
  return make({ ...rest, section });
}

/** Entries for the manager's table. Throws for a name that is taken. */
export function tableOfProvider({ name, flags = {} }: CloudProviderDefinition, own: FlagTable): FlagTable {
  const taken = new Set(Object.values(own).map((one) => one.name));
  for (const one of Object.values(flags))
    if (taken.has(one.name)) throw new FlagError(`cloud provider "${name}": flag redefined: ${one.name}`);
  return Object.fromEntries(Object.entries(flags).map(([key, one]) => [keyPrefix + key, flagFor(one)]));
}

/** What the provider's `create` gets of what was parsed. */
export const providerValuesOf = (
  { flags = {} }: CloudProviderDefinition,
  values: Readonly<Record<string, unknown>>,
): ProviderFlagValues => ({
  ...defaultFlagValues(flags),
  ...Object.fromEntries(Object.keys(flags).flatMap((key) => (keyPrefix + key in values ? [[key, values[keyPrefix + key]]] : []))),
});

/** The last value of a text flag on a command line that is not parsed yet; '' when it is not there. */
export function textFlagIn(argv: readonly string[], name: string): string {
  let value = '';
  for (const [index, arg] of argv.entries()) {
    if (arg === '--') break;
    const [, given, text] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (given?.replaceAll('_', '-') === name) value = text ?? argv[index + 1] ?? '';
  }
  return value;
}
