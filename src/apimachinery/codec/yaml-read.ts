// YAML text to JSON value, as upstream turns YAML bodies into JSON first (sigs.k8s.io/yaml YAMLToJSON). Only the first document counts.
// The package `yaml` parses; what scalars and keys mean is decided here.
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  Scalar,
  type YAMLMap,
} from 'yaml';
import { decodeBase64, DecodeError, jsonDepthMax, parseJson } from '../schema/index.ts';
import { yamlExpandedNodesMax } from './limits.ts';
import { controlCharacters, libyamlMessage } from './yaml-errors.ts';
import { resolveScalar } from './yaml-scalar.ts';

export interface ParsedYaml {
  value: unknown;
  /** Upstream's error about keys set twice, for strict reading; the last value wins all the same. */
  duplicateKeys?: string;
}

/** Reads YAML, or JSON, which YAML includes and clients mostly send. Throws `DecodeError`, mostly with a message that starts with "yaml: ". */
export function parseYaml(text: string): ParsedYaml {
  return (text.trimStart().startsWith('{') ? jsonValue(text) : undefined) ?? yamlValue(text);
}

/** Undefined when the text is no JSON or holds something that YAML sees otherwise. */
function jsonValue(text: string): ParsedYaml | undefined {
  try {
    const { value, duplicates } = parseJson(text, { findDuplicates: true });
    return duplicates === undefined ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function yamlValue(text: string): ParsedYaml {
  if (controlCharacters.test(text)) throw new DecodeError('yaml: control characters are not allowed');
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, {
      version: '1.1',
      schema: 'failsafe',
      uniqueKeys: false,
      merge: false,
      prettyErrors: false,
      lineCounter: lines,
    });
    const document = Array.isArray(documents) ? documents[0] : undefined;
    if (document === undefined) return { value: null };
    const [error] = document.errors;
    if (error !== undefined) throw new DecodeError(`yaml: ${libyamlMessage(error, text)}`);
    const reader = new YamlReader(document, lines);
    const value = reader.read();
    return reader.duplicates.length === 0
      ? { value }
      : { value, duplicateKeys: `yaml: unmarshal errors:\n  ${reader.duplicates.join('\n  ')}` };
  } catch (error) {
    if (error instanceof RangeError) throw new DecodeError('yaml: exceeded max depth of 10000');
    throw error;
  }
}

class YamlReader {
  readonly duplicates: string[] = [];
  readonly #document: Document;
  readonly #lines: LineCounter;
  /** Anchors being expanded. */
  readonly #open: unknown[] = [];
  #expanded = 0;

  constructor(document: Document, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  read(): unknown {
    return this.#node(this.#document.contents, 0);
  }

  #node(node: unknown, depth: number): unknown {
    if (depth > jsonDepthMax) throw new DecodeError('yaml: exceeded max depth of 10000');
    if (this.#open.length > 0 && ++this.#expanded > yamlExpandedNodesMax)
      throw new DecodeError('yaml: document contains excessive aliasing');
    if (isAlias(node)) return this.#alias(node, depth);
    if (isScalar(node)) return this.#scalar(node);
    if (isSeq(node)) return node.items.map((item) => this.#node(item, depth + 1));
    if (isMap(node)) return this.#map(node, {}, depth);
    return null;
  }

  #alias(node: { source: string; resolve(document: Document): unknown }, depth: number): unknown {
    const target = node.resolve(this.#document);
    if (target === undefined) throw new DecodeError(`yaml: unknown anchor '${node.source}' referenced`);
    if (this.#open.includes(target)) throw new DecodeError(`yaml: anchor '${node.source}' value contains itself`);
    this.#open.push(target);
    const value = this.#node(target, depth + 1);
    this.#open.pop();
    return value;
  }

  #map(map: YAMLMap, target: Record<string, unknown>, depth: number): Record<string, unknown> {
    const seen = new Set<string>();
    for (const pair of map.items) {
      if (!isPair(pair)) continue;
      if (isScalar(pair.key) && pair.key.type === Scalar.PLAIN && pair.key.value === '<<') {
        this.#merge(pair.value, target, depth);
        continue;
      }
      const given = this.#node(pair.key, depth + 1);
      const key = keyOf(given);
      if (seen.has(key)) this.#duplicate(pair.value ?? pair.key, given);
      seen.add(key);
      Object.defineProperty(target, key, {
        value: this.#node(pair.value, depth + 1),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return target;
  }

  #merge(value: unknown, target: Record<string, unknown>, depth: number): void {
    const sources = isSeq(value) ? [...value.items].reverse() : [value];
    for (const source of sources) {
      const merged = this.#node(source, depth + 1);
      if (typeof merged !== 'object' || merged === null || Array.isArray(merged))
        throw new DecodeError('yaml: map merge requires map or sequence of maps as the value');
      for (const [key, inner] of Object.entries(merged))
        Object.defineProperty(target, key, { value: inner, enumerable: true, configurable: true, writable: true });
    }
  }

  /** go-yaml names the line of the value. */
  #duplicate(node: unknown, key: unknown): void {
    const line = isNode(node) && node.range ? this.#lines.linePos(node.range[0]).line : 0;
    this.duplicates.push(`line ${line}: key ${goSyntax(key)} already set in map`);
  }

  #scalar(node: Scalar): unknown {
    const text = String(node.value ?? '');
    const tag = node.tag?.replace(/^tag:yaml\.org,2002:/, '!!');
    if (tag === '!!binary') return binaryText(text);
    if (tag === '!!str' || (tag === undefined && node.type !== Scalar.PLAIN && node.type !== undefined)) return text;
    if (tag !== undefined && !['!!bool', '!!int', '!!float', '!!null', '!!timestamp'].includes(tag)) return text;
    const { tag: found, value } = resolveScalar(text);
    const accepted = tag === undefined || tag === `!!${found}` || (tag === '!!float' && found === 'int');
    if (!accepted) throw new DecodeError(`yaml: cannot decode !!${found} \`${text}\` as a ${tag}`);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new DecodeError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
    return value;
  }
}

/** A value as Go's %#v prints it. */
function goSyntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value ?? '<nil>');
  return `map[interface {}]interface {}{${Object.entries(value)
    .map(([key, inner]) => `${goSyntax(key)}:${goSyntax(inner)}`)
    .join(', ')}}`;
}

function keyOf(value: unknown): string {
  if (value === null) throw new DecodeError('unsupported map key of type: <nil>');
  if (typeof value === 'object') throw new DecodeError(`yaml: invalid map key: ${goSyntax(value)}`);
  return String(value);
}

function binaryText(text: string): string {
  const bytes = decodeBase64(text);
  if (!(bytes instanceof Uint8Array)) throw new DecodeError('yaml: !!binary value contains invalid base64 data');
  return new TextDecoder().decode(bytes);
}
