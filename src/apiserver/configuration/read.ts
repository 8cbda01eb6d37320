// Configuration files of the apiserver (groups apiserver.config.k8s.io and those of admission plugins) from YAML or JSON text, read as strictly as upstream's codec reads them:
// an unknown or repeated field is an error, and so is a value of another type. Pure.
import { type ParsedYaml, parseYaml } from '#apimachinery/codec';
import { parseDurationMs } from '#apimachinery/duration';
import { quote } from '#utils';

/** What a field may hold; `present` is an object without fields of its own, `any` is handed on as it is. Durations become milliseconds. */
export type Shape =
  | 'string'
  | 'bool'
  | 'int'
  | 'duration'
  | 'strings'
  | 'present'
  | 'any'
  | { readonly list: Fields }
  | { readonly object: Fields };
export interface Fields {
  readonly [name: string]: Shape;
}

/** What reading a shape gives. A field that is absent or null is absent. */
export type ReadOf<S> = S extends 'string'
  ? string
  : S extends 'bool'
    ? boolean
    : S extends 'int' | 'duration'
      ? number
      : S extends 'strings'
        ? readonly string[]
        : S extends 'present'
          ? Record<string, never>
          : S extends 'any'
            ? unknown
            : S extends { readonly list: infer F }
              ? readonly FieldsOf<F>[]
              : S extends { readonly object: infer F }
                ? FieldsOf<F>
                : never;
export type FieldsOf<F> = { readonly [K in keyof F]?: ReadOf<F[K]> };

export interface FileKind<F extends Fields> {
  kind: string;
  /** Default: apiserver.config.k8s.io. */
  group?: string;
  /** Versions of the group that may be written. */
  versions: readonly string[];
  fields: F;
}

const goKindOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'object' ? 'object' : typeof value === 'boolean' ? 'bool' : typeof value;

class Reader {
  readonly strict: string[] = [];

  object(value: unknown, fields: Fields, path: string): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(value, path, 'object');
    const out: Record<string, unknown> = {};
    for (const [name, given] of Object.entries(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (shape === undefined) this.strict.push(`unknown field ${quote(at)}`);
      else if (given !== null) out[name] = this.value(given, shape, at);
    }
    return out;
  }

  value(value: unknown, shape: Shape, path: string): unknown {
    if (shape === 'any') return value;
    if (shape === 'present') return this.object(value, {}, path);
    if (shape === 'string' || shape === 'duration') {
      if (typeof value !== 'string') throw wrongType(value, path, 'string');
      return shape === 'duration' ? parseDurationMs(value) : value;
    }
    if (shape === 'bool') {
      if (typeof value !== 'boolean') throw wrongType(value, path, 'bool');
      return value;
    }
    if (shape === 'int') {
      if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType(value, path, 'int32');
      return value;
    }
    if (shape === 'strings') return this.#list(value, path, (item, at) => this.value(item, 'string', at));
    if ('object' in shape) return this.object(value, shape.object, path);
    return this.#list(value, path, (item, at) => this.object(item ?? {}, shape.list, at));
  }

  #list<T>(value: unknown, path: string, read: (item: unknown, at: string) => T): T[] {
    if (!Array.isArray(value)) throw wrongType(value, path, 'slice');
    return value.map((item, index) => read(item, `${path}[${index}]`));
  }
}

const wrongType = (value: unknown, path: string, type: string): Error =>
  new Error(`json: cannot unmarshal ${goKindOf(value)} into Go struct field ${path} of type ${type}`);

/** The text of a file, or what the text holds where it was read before. */
export type ConfigurationSource = string | ParsedYaml;

/** Throws an Error in upstream's words for anything that does not belong into such a file. */
export function readConfiguration<F extends Fields>(
  source: ConfigurationSource,
  file: FileKind<F>,
): FieldsOf<F> & { apiVersion: string } {
  const { value, duplicateKeys } = typeof source === 'string' ? parseYaml(source) : source;
  const { apiVersion, kind, ...rest } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (typeof kind !== 'string' || kind === '') throw new Error(`Object 'Kind' is missing in '${redacted}'`);
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new Error(`Object 'apiVersion' is missing in '${redacted}'`);
  const [group, version = ''] = apiVersion.split('/');
  const { group: expected = 'apiserver.config.k8s.io' } = file;
  if (kind !== file.kind || group !== expected || !file.versions.includes(version))
    throw new Error(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme ${quote(expected)}`);
  const reader = new Reader();
  const read = reader.object(rest, file.fields, '');
  const strict = [...(duplicateKeys ? [duplicateKeys] : []), ...reader.strict];
  if (strict.length > 0) throw new Error(`strict decoding error: ${strict.join(', ')}`);
  return { ...(read as FieldsOf<F>), apiVersion };
}

/** Such files hold keys: their text is never repeated. */
const redacted = '<configuration>';
