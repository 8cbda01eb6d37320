// Tokens of a YAML text to the nodes of its first document, by the grammar of YAML 1.1 (libyaml's, as go-yaml has it). Others are not read:
// upstream looks at the first one only.
import type { Steps } from '#utils';
import { DecodeError, TooLargeError } from '../schema/index.ts';
import { yamlValuesMax, yamlValuesPerStep } from './limits.ts';
import { asDecodeError, grammarError, YamlProblem } from './yaml-errors.ts';
import type { Sign, Token } from './yaml-scan.ts';
import type { Tag } from './yaml-tags.ts';
import { YamlTokens } from './yaml-tokens.ts';

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
export function* composeYaml(text: string): Steps<YamlNode | undefined> {
  try {
    return yield* new Composer(yield* YamlTokens.of(text)).document();
  } catch (error) {
    throw error instanceof YamlProblem ? asDecodeError(error, text) : error;
  }
}

/** Steps that are over. */
const nothing: Steps<void> = (function* () {})();

function* afterRest(steps: Steps<void>): Steps<void> {
  yield;
  yield* steps;
}

class Composer {
  readonly #tokens: YamlTokens;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #prefixes = new Map<string, string>();
  #count = 0;
  /** How many nodes there are when others have their turn. */
  #restsAt = yamlValuesPerStep;

  constructor(tokens: YamlTokens) {
    this.#tokens = tokens;
  }

  *document(): Steps<YamlNode | undefined> {
    const tokens = this.#tokens;
    const { is } = tokens.peek();
    if (is === 'end') return undefined;
    let root: YamlNode;
    if (is !== 'directive' && is !== 'documentStart') root = yield* this.#root();
    else {
      this.#directives();
      const { at } = tokens.take();
      const next = tokens.peek().is;
      const isEmpty = next === 'directive' || next === 'documentStart' || next === 'documentEnd' || next === 'end';
      root = isEmpty ? this.#empty(at) : yield* this.#root();
    }
    tokens.peek();
    return root;
  }

  #directives(): void {
    const tokens = this.#tokens;
    let versions = 0;
    for (let token = tokens.peek(); token.directive !== undefined; token = tokens.peek()) {
      const { directive } = token;
      if ('isKnown' in directive) {
        if (versions++ > 0) throw grammarError(token, 'found duplicate %YAML directive');
        if (!directive.isKnown) throw grammarError(token, 'found incompatible YAML document');
      } else {
        if (this.#prefixes.has(directive.handle)) throw grammarError(token, 'found duplicate %TAG directive');
        this.#prefixes.set(directive.handle, directive.prefix);
      }
      tokens.take();
    }
    const token = tokens.peek();
    if (token.is !== 'documentStart') throw grammarError(token, 'did not find expected <document start>');
  }

  /** Whether a node begins here: the next token is not one of `signs`. */
  #isNot(...signs: Sign[]): boolean {
    return !signs.includes(this.#tokens.peek().is);
  }

  #counted<T extends YamlNode>(node: T): T {
    if (++this.#count > yamlValuesMax) throw new TooLargeError(yamlValuesMax);
    return node;
  }

  #empty(at: number): ScalarNode {
    return this.#counted({ is: 'scalar', at, tag: '', value: '', implicit: true });
  }

  *#root(): Steps<YamlNode> {
    const items: YamlNode[] = [];
    yield* this.#child(items, true, false);
    return items[0] as YamlNode;
  }

  /** Puts the next node among the items. What is in it follows in steps, and has to before anything else is read. */
  #child(items: YamlNode[], inBlock: boolean, indentless: boolean): Steps<void> {
    const node = this.#node(inBlock, indentless);
    items.push(node);
    const inside = node.is === 'sequence' || node.is === 'mapping' ? this.#fill(this.#tokens.peek().is, node.items) : nothing;
    if (this.#count < this.#restsAt) return inside;
    this.#restsAt = this.#count + yamlValuesPerStep;
    return afterRest(inside);
  }

  /** A node; of a collection its head, its start is the next token. */
  #node(inBlock: boolean, indentless: boolean): YamlNode {
    const tokens = this.#tokens;
    let token = tokens.peek();
    if (token.is === 'alias') return this.#alias(tokens.take());
    const { at } = token;
    let anchor: string | undefined;
    let tag = '';
    for (; (token.is === 'anchor' && anchor === undefined) || (token.is === 'tag' && tag === ''); token = tokens.peek()) {
      if (token.is === 'anchor') anchor = token.text;
      else tag = this.#tagText(token);
      tokens.take();
    }
    const named = <T extends YamlNode>(node: T): T => {
      if (anchor !== undefined) this.#anchors.set(anchor, node);
      return this.#counted(node);
    };
    if (token.is === 'scalar') {
      const implicit = tag === '' ? token.plain : tag === '!';
      tokens.take();
      return named({ is: 'scalar', at, tag, value: token.text, implicit });
    }
    const isMapping = token.is === '{' || (inBlock && token.is === 'blockMapping');
    const isSequence = token.is === '[' || (inBlock && token.is === 'blockSequence') || (indentless && token.is === '-');
    if (isMapping || isSequence) {
      return named<SequenceNode | MappingNode>({ is: isMapping ? 'mapping' : 'sequence', at, tag, items: [] });
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

  *#fill(start: Sign, items: YamlNode[]): Steps<void> {
    if (start === '-') return yield* this.#indentlessSequence(items);
    this.#tokens.take();
    if (start === '[') yield* this.#flowSequence(items);
    else if (start === '{') yield* this.#flowMapping(items);
    else if (start === 'blockSequence') yield* this.#blockSequence(items);
    else yield* this.#blockMapping(items);
  }

  *#blockSequence(items: YamlNode[]): Steps<void> {
    for (;;) {
      const token = this.#tokens.peek();
      if (token.is !== '-' && token.is !== 'blockEnd') throw grammarError(token, "did not find expected '-' indicator");
      this.#tokens.take();
      if (token.is === 'blockEnd') return;
      if (this.#isNot('-', 'blockEnd')) yield* this.#child(items, true, false);
      else items.push(this.#empty(token.at));
    }
  }

  /** A sequence in a mapping that is not indented further: it ends where the mapping goes on. */
  *#indentlessSequence(items: YamlNode[]): Steps<void> {
    while (!this.#isNot('-')) {
      const { at } = this.#tokens.take();
      if (this.#isNot('-', '?', ':', 'blockEnd')) yield* this.#child(items, true, false);
      else items.push(this.#empty(at));
    }
  }

  *#blockMapping(items: YamlNode[]): Steps<void> {
    for (;;) {
      const token = this.#tokens.peek();
      if (token.is !== '?' && token.is !== 'blockEnd') throw grammarError(token, 'did not find expected key');
      this.#tokens.take();
      if (token.is === 'blockEnd') return;
      if (this.#isNot('?', ':', 'blockEnd')) yield* this.#child(items, true, true);
      else items.push(this.#empty(token.at));
      const next = this.#tokens.peek();
      if (next.is === ':') this.#tokens.take();
      if (next.is === ':' && this.#isNot('?', ':', 'blockEnd')) yield* this.#child(items, true, true);
      else items.push(this.#empty(next.at));
    }
  }

  /** Passes what separates entries; false at the end, which is passed, too. */
  #nextEntry(end: ']' | '}', isFirst: boolean): boolean {
    const tokens = this.#tokens;
    if (this.#isNot(end) && !isFirst) {
      const token = tokens.peek();
      if (token.is !== ',') throw grammarError(token, `did not find expected ',' or '${end}'`);
      tokens.take();
    }
    if (this.#isNot(end)) return true;
    tokens.take();
    return false;
  }

  *#flowSequence(items: YamlNode[]): Steps<void> {
    for (let isFirst = true; this.#nextEntry(']', isFirst); isFirst = false) {
      if (this.#isNot('?')) yield* this.#child(items, false, false);
      else yield* this.#pair(items);
    }
  }

  /** A mapping of one pair without braces. */
  *#pair(items: YamlNode[]): Steps<void> {
    const { at } = this.#tokens.take();
    const pair = this.#counted<MappingNode>({ is: 'mapping', at, tag: '', items: [] });
    items.push(pair);
    // Where the key is missing upstream's parser passes the sign that stands there instead.
    if (this.#isNot(':', ',', ']')) yield* this.#child(pair.items, false, false);
    else pair.items.push(this.#empty(this.#tokens.take().at));
    yield* this.#flowValue(pair.items, ']');
  }

  *#flowMapping(items: YamlNode[]): Steps<void> {
    for (let isFirst = true; this.#nextEntry('}', isFirst); isFirst = false) {
      if (this.#isNot('?')) {
        yield* this.#child(items, false, false);
        items.push(this.#empty(this.#tokens.peek().at));
        continue;
      }
      this.#tokens.take();
      if (this.#isNot(':', ',', '}')) yield* this.#child(items, false, false);
      else items.push(this.#empty(this.#tokens.peek().at));
      yield* this.#flowValue(items, '}');
    }
  }

  *#flowValue(items: YamlNode[], end: ']' | '}'): Steps<void> {
    const token = this.#tokens.peek();
    if (token.is === ':') this.#tokens.take();
    if (token.is === ':' && this.#isNot(',', end)) yield* this.#child(items, false, false);
    else items.push(this.#empty(token.is === ':' ? this.#tokens.peek().at : token.at));
  }
}
