// The part of JSON Schema (draft 2020-12 names) that configurations of providers need: checked with errors that name the field, and defaults
// filled in.

export interface ConfigSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  default?: unknown;
  enum?: readonly (string | number)[];
  /** Objects. A field that is in none of `properties` is an error, unless `additionalProperties`. */
  properties?: Readonly<Record<string, ConfigSchema>>;
  required?: readonly string[];
  additionalProperties?: boolean | ConfigSchema;
  items?: ConfigSchema;
  minItems?: number;
  minLength?: number;
  /** Regular expression that a string must match somewhere. */
  pattern?: string;
  minimum?: number;
  maximum?: number;
}

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(provider: string, problems: readonly string[]) {
    super(`invalid configuration of cloud provider "${provider}": ${problems.join('; ')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const types: Record<ConfigSchema['type'], (value: unknown) => boolean> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === 'string',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
};

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
const shown = (path: string): string => path || 'the configuration';

function* scalarProblems(schema: ConfigSchema, value: unknown, path: string): Generator<string> {
  const { minLength = 0, minimum = -Infinity, maximum = Infinity, pattern } = schema;
  if (schema.enum && !schema.enum.some((allowed) => allowed === value))
    yield `${shown(path)}: must be one of ${schema.enum.join(', ')}, not ${JSON.stringify(value)}`;
  if (typeof value === 'string') {
    if (value.length < minLength)
      yield minLength === 1 ? `${shown(path)}: must not be empty` : `${shown(path)}: must have at least ${minLength} characters`;
    else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
      yield `${shown(path)}: must match ${pattern}, not ${JSON.stringify(value)}`;
  }
  if (typeof value === 'number') {
    if (value < minimum) yield `${shown(path)}: must be at least ${minimum}, not ${value}`;
    if (value > maximum) yield `${shown(path)}: must be at most ${maximum}, not ${value}`;
  }
}

function* problemsOf(schema: ConfigSchema, value: unknown, path: string): Generator<string> {
  if (!types[schema.type](value)) return yield `${shown(path)}: must be ${article(schema.type)}`;
  yield* scalarProblems(schema, value, path);
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) yield `${shown(path)}: must have at least ${schema.minItems} items`;
    if (schema.items) for (const [index, item] of value.entries()) yield* problemsOf(schema.items, item, `${path}[${index}]`);
  }
  if (isRecord(value)) yield* fieldProblems(schema, value, path);
}

function* fieldProblems(schema: ConfigSchema, value: Record<string, unknown>, path: string): Generator<string> {
  const { properties = {}, required = [], additionalProperties = false } = schema;
  const at = (name: string): string => (path ? `${path}.${name}` : name);
  for (const name of required) if (value[name] === undefined) yield `${at(name)}: is required`;
  for (const [name, field] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known) {
      if (field !== undefined) yield* problemsOf(known, field, at(name));
    } else if (typeof additionalProperties === 'object') yield* problemsOf(additionalProperties, field, at(name));
    else if (!additionalProperties)
      yield `${at(name)}: is not known; known are ${Object.keys(properties).join(', ') || 'no fields'}`;
  }
}

function withDefaults(schema: ConfigSchema, value: unknown): unknown {
  if (value === undefined) {
    if (schema.default !== undefined) return structuredClone(schema.default);
    return undefined;
  }
  if (Array.isArray(value)) return schema.items ? value.map((item) => withDefaults(schema.items as ConfigSchema, item)) : value;
  if (!isRecord(value)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const known = withDefaults(field, Object.hasOwn(value, name) ? value[name] : undefined);
    if (known !== undefined) filled[name] = known;
  }
  return filled;
}

/** The configuration with defaults filled in. Nothing at all counts as an empty object. Throws `ConfigError` that names every wrong field. */
export function validateConfig(provider: string, schema: ConfigSchema, value: unknown): unknown {
  const given = value === undefined || value === null ? {} : value;
  const filled = withDefaults(schema, given);
  const problems = [...problemsOf(schema, filled, '')];
  if (problems.length > 0) throw new ConfigError(provider, problems);
  return filled;
}
