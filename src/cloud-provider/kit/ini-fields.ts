// The entries of an INI section as typed fields, read by a configuration schema. Names are compared without case, a key alone means true, and an
// empty value counts as not given; what the schema does not know is left to the check against it. Pure.
import type { ConfigSchema } from '../config-schema.ts';
import type { IniSection } from './ini.ts';

const words: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
};

/** What the schema expects, if the text can be read as that; else the text, about which the schema then complains. */
function typed(schema: ConfigSchema, value: string | undefined): unknown {
  if (value === undefined) return schema.type === 'boolean' ? true : '';
  if (schema.type === 'boolean') return words[value.toLowerCase()] ?? value;
  if (schema.type === 'integer') return /^[+-]?\d+$/.test(value) ? Number(value) : value;
  return value;
}

/** The fields of a section. A field that is an array takes one value from each of its entries. */
export function iniFields(section: IniSection, { properties = {} }: ConfigSchema): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const { key, value } of section.entries) {
    const name = Object.keys(properties).find((known) => known.toLowerCase() === key.toLowerCase()) ?? key;
    const schema = properties[name] ?? { type: 'string' };
    if (value === '') continue;
    if (schema.type !== 'array') fields[name] = typed(schema, value);
    else fields[name] = [...((fields[name] as unknown[] | undefined) ?? []), typed(schema.items ?? { type: 'string' }, value)];
  }
  return fields;
}
