// Tokens of a YAML text to the nodes of its first document, by the grammar of YAML 1.1 (libyaml's, as go-yaml has it). Others are not read:
// upstream looks at the first one only.
import { DecodeError, TooLargeError } from '../schema/index.ts';
import { yamlValuesMax } from './limits.ts';
import { asDecodeError, grammarError, YamlProblem } from './yaml-errors.ts';
import { type Sign, type Token, YamlScanner } from './yaml-scan.ts';
import type { Tag } from './yaml-tags.ts';

interface Common {
  /** Where it begins in the text. */
  at: number;
  /** Whole; '' for none. */
  tag: string;
}
export interface ScalarNode extends Common {
  is: 'scalar';
  value: string;
  /** Whether its text decides what it means. */
  implicit: boolean;
}
export interface SequenceNode extends Common {
  is: 'sequence';
  items: YamlNode[];
}
export interface MappingNode extends Common {
  is: 'mapping';
  /** Keys and values in turn. */
  items: YamlNode[];
}
export interface AliasNode extends Common {
  is: 'alias';
  name: string;
  target: YamlNode;
}
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

const standardPrefix = 'tag:yaml.org,2002:';

/** The first document; undefined when there is none. Throws `DecodeError`, `TooLargeError` for one that holds too much. */
export function composeYaml(text: string): YamlNode | undefined {
  try {
    return new Composer(text).document();
  } catch (error) {
    throw error instanceof YamlProblem ? asDecodeError(error, text) : error;
  }
}

class Composer {
  readonly #scanner: YamlScanner;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #prefixes = new Map<string, string>();
  #count = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  document(): YamlNode | undefined {
    const scanner = this.#scanner;
    const { is } = scanner.peek();
    if (is === 'end') return undefined;
    let root: YamlNode;
    if (is !== 'directive' && is !== 'documentStart') root = this.#node(true, false);
    else {
      this.#directives();
      const { at } = scanner.take();
      const next = scanner.peek().is;
      const isEmpty = next === 'directive' || next === 'documentStart' || next === 'documentEnd' || next === 'end';
      root = isEmpty ? this.#empty(at) : this.#node(true, false);
    }
    scanner.peek();
    return root;
  }

  #directives(): void {
    const scanner = this.#scanner;
    let versions = 0;
    for (let token = scanner.peek(); token.directive !== undefined; token = scanner.peek()) {
      const { directive } = token;
      if ('isKnown' in directive) {
        if (versions++ > 0) throw grammarError(token, 'found duplicate %YAML directive');
        if (!directive.isKnown) throw grammarError(token, 'found incompatible YAML document');
      } else {
        if (this.#prefixes.has(directive.handle)) throw grammarError(token, 'found duplicate %TAG directive');
        this.#prefixes.set(directive.handle, directive.prefix);
      }
      scanner.take();
    }
    const token = scanner.peek();
    if (token.is !== 'documentStart') throw grammarError(token, 'did not find expected <document start>');
  }

  /** Whether the next token is none of these: then a node begins. */
  #isNot(...signs: Sign[]): boolean {
    return !signs.includes(this.#scanner.peek().is);
  }

  #counted<T extends YamlNode>(node: T): T {
    if (++this.#count > yamlValuesMax) throw new TooLargeError(yamlValuesMax);
    return node;
  }

  #empty(at: number): ScalarNode {
    return this.#counted({ is: 'scalar', at, tag: '', value: '', implicit: true });
  }

  #node(inBlock: boolean, indentless: boolean): YamlNode {
    const scanner = this.#scanner;
    let token = scanner.peek();
    if (token.is === 'alias') return this.#alias(scanner.take());
    const { at } = token;
    let anchor: string | undefined;
    let tag = '';
    for (; (token.is === 'anchor' && anchor === undefined) || (token.is === 'tag' && tag === ''); token = scanner.peek()) {
      if (token.is === 'anchor') anchor = token.text;
      else tag = this.#tagText(token);
      scanner.take();
    }
    const named = <T extends YamlNode>(node: T): T => {
      if (anchor !== undefined) this.#anchors.set(anchor, node);
      return this.#counted(node);
    };
    if (token.is === 'scalar') {
      const implicit = tag === '' ? token.plain : tag === '!';
      scanner.take();
      return named({ is: 'scalar', at, tag, value: token.text, implicit });
    }
    const isMapping = token.is === '{' || (inBlock && token.is === 'blockMapping');
    const isSequence = token.is === '[' || (inBlock && token.is === 'blockSequence') || (indentless && token.is === '-');
    if (isMapping || isSequence) {
      const node = named<SequenceNode | MappingNode>({ is: isMapping ? 'mapping' : 'sequence', at, tag, items: [] });
      this.#fill(token.is, node.items);
      return node;
    }
    if (anchor !== undefined || tag !== '') return named({ is: 'scalar', at, tag, value: '', implicit: tag === '' });
    throw grammarError(token, 'did not find expected node content');
  }

  #alias({ text: name, at }: Token): YamlNode {
    const target = this.#anchors.get(name);
    if (target === undefined) throw new DecodeError(`yaml: unknown anchor '${name}' referenced`);
    return this.#counted({ is: 'alias', at, tag: '', name, target });
  }

  #tagText(token: Token): string {
    const { handle, suffix } = token.tag as Tag;
    if (handle === '') return suffix;
    const prefix = this.#prefixes.get(handle) ?? (handle === '!' ? '!' : handle === '!!' ? standardPrefix : undefined);
    if (prefix === undefined) throw grammarError(token, 'found undefined tag handle');
    return prefix + suffix;
  }

  #fill(start: Sign, items: YamlNode[]): void {
    if (start === '-') return this.#indentlessSequence(items);
    this.#scanner.take();
    if (start === '[') this.#flowSequence(items);
    else if (start === '{') this.#flowMapping(items);
    else if (start === 'blockSequence') this.#blockSequence(items);
    else this.#blockMapping(items);
  }

  #blockSequence(items: YamlNode[]): void {
    for (;;) {
      const token = this.#scanner.peek();
      if (token.is !== '-' && token.is !== 'blockEnd') throw grammarError(token, "did not find expected '-' indicator");
      this.#scanner.take();
      if (token.is === 'blockEnd') return;
      items.push(this.#isNot('-', 'blockEnd') ? this.#node(true, false) : this.#empty(token.at));
    }
  }

  /** A sequence in a mapping that is not indented further: it ends where the mapping goes on. */
  #indentlessSequence(items: YamlNode[]): void {
    while (!this.#isNot('-')) {
      const { at } = this.#scanner.take();
      items.push(this.#isNot('-', '?', ':', 'blockEnd') ? this.#node(true, false) : this.#empty(at));
    }
  }

  #blockMapping(items: YamlNode[]): void {
    for (;;) {
      const token = this.#scanner.peek();
      if (token.is !== '?' && token.is !== 'blockEnd') throw grammarError(token, 'did not find expected key');
      this.#scanner.take();
      if (token.is === 'blockEnd') return;
      items.push(this.#isNot('?', ':', 'blockEnd') ? this.#node(true, true) : this.#empty(token.at));
      const next = this.#scanner.peek();
      if (next.is === ':') this.#scanner.take();
      const isThere = next.is === ':' && this.#isNot('?', ':', 'blockEnd');
      items.push(isThere ? this.#node(true, true) : this.#empty(next.at));
    }
  }

  /** Passes what separates entries; false at the end, which is passed, too. */
  #nextEntry(end: ']' | '}', isFirst: boolean): boolean {
    const scanner = this.#scanner;
    if (this.#isNot(end) && !isFirst) {
      const token = scanner.peek();
      if (token.is !== ',') throw grammarError(token, `did not find expected ',' or '${end}'`);
      scanner.take();
    }
    if (this.#isNot(end)) return true;
    scanner.take();
    return false;
  }

  #flowSequence(items: YamlNode[]): void {
    for (let isFirst = true; this.#nextEntry(']', isFirst); isFirst = false) {
      items.push(this.#isNot('?') ? this.#node(false, false) : this.#pair());
    }
  }

  /** A mapping of one pair without braces. */
  #pair(): YamlNode {
    const { at } = this.#scanner.take();
    const pair = this.#counted<MappingNode>({ is: 'mapping', at, tag: '', items: [] });
    // Where the key is missing upstream's parser passes the sign that stands there instead.
    pair.items.push(this.#isNot(':', ',', ']') ? this.#node(false, false) : this.#empty(this.#scanner.take().at));
    pair.items.push(this.#flowValue(']'));
    return pair;
  }

  #flowMapping(items: YamlNode[]): void {
    for (let isFirst = true; this.#nextEntry('}', isFirst); isFirst = false) {
      if (this.#isNot('?')) {
        items.push(this.#node(false, false));
        items.push(this.#empty(this.#scanner.peek().at));
        continue;
      }
      this.#scanner.take();
      items.push(this.#isNot(':', ',', '}') ? this.#node(false, false) : this.#empty(this.#scanner.peek().at));
      items.push(this.#flowValue('}'));
    }
  }

  #flowValue(end: ']' | '}'): YamlNode {
    const token = this.#scanner.peek();
    if (token.is !== ':') return this.#empty(token.at);
    this.#scanner.take();
    return this.#isNot(',', end) ? this.#node(false, false) : this.#empty(this.#scanner.peek().at);
  }
}
