// YAML text to JSON value, as upstream turns YAML bodies into JSON first (sigs.k8s.io/yaml YAMLToJSON over go-yaml v2). Only the first document
// counts. Time grows with the length of the text, and what a text may hold or stand for is limited.
import { finish, quote, setOwn, type Steps } from '#utils';
import { decodeBase64, DecodeError, jsonDepthMax, parseJson, strictErrorsMax, TooLargeError } from '../schema/index.ts';
import { yamlLinesMax, yamlValuesMax, yamlValuesPerStep } from './limits.ts';
import { type AliasNode, composeYaml, type MappingNode, type ScalarNode, type YamlNode } from './yaml-compose.ts';
import { forbiddenCharacters, hasMoreLines, Lines } from './yaml-cursor.ts';
import { float32Text, resolveScalar } from './yaml-scalar.ts';

export interface ParsedYaml {
  value: unknown;
  /** Upstream's error about keys set twice, for strict reading; the last value wins all the same. */
  duplicateKeys?: string;
}

/** Reads YAML, or JSON, which YAML includes and clients mostly send. Throws `DecodeError`, mostly with a message that starts with "yaml: ". */
export const parseYaml = (text: string): ParsedYaml => finish(readYaml(text));

/** `parseYaml` in steps: a text near the limits takes a few hundred milliseconds. */
export function* readYaml(text: string): Steps<ParsedYaml> {
  const json = /^[ \r\n]*\{/.test(text) ? jsonValue(text) : undefined;
  return json ?? (yield* yamlValue(text));
}

/** Reads the text as JSON, which is faster; undefined when it is not JSON or holds something that YAML sees otherwise. */
function jsonValue(text: string): ParsedYaml | undefined {
  try {
    const { value, duplicates } = parseJson(text, { findDuplicates: true });
    return duplicates === undefined ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function* yamlValue(given: string): Steps<ParsedYaml> {
  const text = given.startsWith('\ufeff') ? given.slice(1) : given;
  if (forbiddenCharacters.test(text)) throw new DecodeError('yaml: control characters are not allowed');
  if (hasMoreLines(text, yamlLinesMax)) throw new TooLargeError(yamlLinesMax, 'lines');
  yield;
  const root = yield* composeYaml(text);
  if (root === undefined) return { value: null };
  yield;
  const reader = new YamlReader(text);
  const value = yield* reader.read(root);
  return reader.duplicates.length === 0
    ? { value }
    : { value, duplicateKeys: `yaml: unmarshal errors:\n  ${reader.duplicates.join('\n  ')}` };
}

type JsonObject = Record<string, unknown>;

class YamlReader {
  readonly duplicates: string[] = [];
  readonly #lines: Lines;
  /** Aliases being read. */
  readonly #open = new Set<YamlNode>();
  #count = 0;
  #aliased = 0;
  /** How many values there are when others have their turn. */
  #restsAt = yamlValuesPerStep;

  constructor(text: string) {
    this.#lines = new Lines(text);
  }

  *read(root: YamlNode): Steps<unknown> {
    return root.is === 'scalar' ? this.#scalar(root, 0) : yield* this.#node(root, 0);
  }

  /** Apart from the others, as most nodes are scalars, and a generator for each would cost more than the scalar. */
  #scalar(node: ScalarNode, depth: number, isKey = false): unknown {
    this.#tally(depth);
    return isKey ? scalarValue(node) : finite(scalarValue(node));
  }

  *#node(node: Exclude<YamlNode, ScalarNode>, depth: number, isKey = false): Steps<unknown> {
    this.#tally(depth);
    switch (node.is) {
      case 'sequence': {
        const values: unknown[] = [];
        for (const item of node.items) {
          if (this.#isLong()) yield;
          values.push(item.is === 'scalar' ? this.#scalar(item, depth + 1) : yield* this.#node(item, depth + 1));
        }
        return values;
      }
      case 'mapping': {
        const target: JsonObject = {};
        yield* this.#fill(target, new Set(), node, depth);
        return target;
      }
      case 'alias': {
        const target = this.#enter(node);
        const value =
          target.is === 'scalar' ? this.#scalar(target, depth + 1, isKey) : yield* this.#node(target, depth + 1, isKey);
        this.#open.delete(node);
        return value;
      }
    }
  }

  /** Whether as much has been read as may be without a pause. */
  #isLong(): boolean {
    if (this.#count < this.#restsAt) return false;
    this.#restsAt = this.#count + yamlValuesPerStep;
    return true;
  }

  /** Upstream takes a document for an attack when nearly all of it comes from aliases. */
  #tally(depth: number): void {
    if (depth > jsonDepthMax) throw new DecodeError(`yaml: exceeded max depth of ${jsonDepthMax}`);
    this.#count++;
    if (this.#open.size > 0) this.#aliased++;
    const excessive = this.#aliased > 100 && this.#count > 1000 && this.#aliased / this.#count > aliasedShareMax;
    if (excessive || (this.#count > yamlValuesMax && this.#aliased > 0))
      throw new DecodeError('yaml: document contains excessive aliasing');
    if (this.#count > yamlValuesMax) throw new TooLargeError(yamlValuesMax);
  }

  /** What an alias stands for; the alias is open until its value has been read. */
  #enter(node: AliasNode): YamlNode {
    if (this.#open.has(node)) throw new DecodeError(`yaml: anchor '${node.name}' value contains itself`);
    this.#open.add(node);
    return node.target;
  }

  /** `keys`: those the target has, each with its type. */
  *#fill(target: JsonObject, keys: Set<string>, { items }: MappingNode, depth: number): Steps<void> {
    for (let at = 0; at < items.length; at += 2) {
      if (this.#isLong()) yield;
      const [name, inner] = [items[at], items[at + 1]] as [YamlNode, YamlNode];
      if (isMergeKey(name)) {
        yield* this.#merge(target, keys, inner, depth);
        continue;
      }
      const given = name.is === 'scalar' ? this.#scalar(name, depth + 1, true) : yield* this.#node(name, depth + 1, true);
      if (typeof given === 'object' && given !== null) throw new DecodeError(`yaml: invalid map key: ${goSyntax(given)}`);
      const value = inner.is === 'scalar' ? this.#scalar(inner, depth + 1) : yield* this.#node(inner, depth + 1);
      if (given === null) throw new DecodeError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
      const key = typeof given === 'number' && isFloat(name) ? float32Text(given) : String(given);
      const typed = typeof given === 'string' ? key : `\n${key}`;
      if (!keys.has(typed)) keys.add(typed);
      else if (this.duplicates.length < strictErrorsMax)
        this.duplicates.push(`line ${this.#lines.of(inner.at) + 1}: key ${goSyntax(given)} already set in map`);
      setOwn(target, key, value);
    }
  }

  /** Of several mappings the first wins, so it comes last. */
  *#merge(target: JsonObject, keys: Set<string>, node: YamlNode, depth: number): Steps<void> {
    const sources = node.is === 'sequence' ? [...node.items].reverse() : [node];
    for (const source of sources) yield* this.#mergeOne(target, keys, source, depth);
  }

  *#mergeOne(target: JsonObject, keys: Set<string>, source: YamlNode, depth: number): Steps<void> {
    const mapping = source.is === 'alias' ? source.target : source;
    if (mapping.is !== 'mapping') throw new DecodeError('yaml: map merge requires map or sequence of maps as the value');
    this.#tally(depth);
    if (source.is !== 'alias') return yield* this.#fill(target, keys, mapping, depth);
    this.#enter(source);
    this.#tally(depth);
    yield* this.#fill(target, keys, mapping, depth);
    this.#open.delete(source);
  }
}

/** How much of a document aliases may stand for (go-yaml, for documents of at most 400,000 nodes). */
const aliasedShareMax = 0.99;

const standard = 'tag:yaml.org,2002:';

const isMergeKey = (node: YamlNode): boolean =>
  node.is === 'scalar' && node.value === '<<' && (node.implicit || node.tag === `${standard}merge`);

const resolvable = new Set(['str', 'bool', 'int', 'float', 'null', 'timestamp', 'binary']);

function scalarValue({ value: text, tag: whole, implicit }: ScalarNode): unknown {
  if (whole === '' && !implicit) return text;
  const tag = whole.startsWith(standard) ? whole.slice(standard.length) : whole;
  if (tag !== '' && !(tag !== whole && resolvable.has(tag))) return text;
  if (tag === 'str') return text;
  if (tag === 'binary') return binaryText(text);
  const { tag: found, value } = resolveScalar(text);
  const accepted = tag === '' || tag === found || (tag === 'float' && found === 'int');
  if (accepted) return value;
  const seen = found === 'timestamp' ? 'str' : found;
  throw new DecodeError(`yaml: cannot decode !!${seen} \`${text}\` as a !!${tag}`);
}

/** JSON has no text for other numbers. */
function finite(value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new DecodeError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
}

/** A value as Go's %#v prints it; `inner`: in a collection. */
function goSyntax(value: unknown, inner = false): string {
  if (value === null || value === undefined) return inner ? 'interface {}(nil)' : '<nil>';
  if (Array.isArray(value)) return `[]interface {}{${value.map((item) => goSyntax(item, true)).join(', ')}}`;
  if (typeof value !== 'object') return typeof value === 'string' ? quote(value) : String(value as number | boolean);
  const entries = Object.entries(value).map(([key, item]) => `${goSyntax(key)}:${goSyntax(item, true)}`);
  return `map[interface {}]interface {}{${entries.join(', ')}}`;
}

const isFloat = (node: YamlNode): boolean =>
  node.is === 'alias'
    ? isFloat(node.target)
    : node.is === 'scalar' && (node.tag === `${standard}float` || resolveScalar(node.value).tag === 'float');

function binaryText(text: string): string {
  const bytes = decodeBase64(text);
  if (!(bytes instanceof Uint8Array)) throw new DecodeError('yaml: !!binary value contains invalid base64 data');
  return new TextDecoder().decode(bytes);
}
