// YAML text to tokens, as YAML 1.1 is read by upstream's parser (libyaml, as go-yaml has it). What makes YAML hard to read is that a key is
// only known as one by the colon behind it: tokens wait in a queue as long as their first may still turn out to be the start of a key, which
// a key may be for one line and 1,024 characters only.
import { jsonDepthMax } from '../schema/index.ts';
import { Cursor, isBlank, isBlankOrEnd, isBreak } from './yaml-cursor.ts';
import { scannerError, type YamlProblem } from './yaml-errors.ts';
import { blockScalar, plainScalar, quotedScalar } from './yaml-scalars.ts';
import { anchorName, type Directive, directiveAt, type Tag, tagAt } from './yaml-tags.ts';
import { yamlKeyLengthMax } from './limits.ts';

export type Sign =
  | 'end'
  | 'documentStart'
  | 'documentEnd'
  | 'directive'
  | 'blockSequence'
  | 'blockMapping'
  | 'blockEnd'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'
  | ('[' | ']' | '{' | '}' | ',' | '-' | '?' | ':');

/** All tokens are of one form, as there are many of them. */
export interface Token {
  is: Sign;
  /** Where it begins in the text. */
  at: number;
  /** Set while it may turn out to be the start of a key. */
  candidate: Candidate | undefined;
  /** A scalar's value, or the name of an anchor. */
  text: string;
  /** Whether a scalar stands without quotes. */
  plain: boolean;
  tag: Tag | undefined;
  directive: Directive | undefined;
}

/** A place where a key may have begun. */
interface Candidate {
  open: boolean;
  /** Whether nothing else could stand here. */
  required: boolean;
  /** The number of the token it is. */
  token: number;
  /** Whether the token waits for what comes of it. */
  waits: boolean;
  at: number;
  lineStart: number;
}

const closed = (token: number): Candidate => ({
  open: false,
  required: false,
  token,
  waits: false,
  at: 0,
  lineStart: 0,
});

export class YamlScanner {
  readonly #cursor: Cursor;
  readonly #queue: Token[] = [];
  /** Tokens taken out of the queue, and how many of them still stand in it. */
  #taken = 0;
  #head = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  /** One for each level of flow collections, the outermost for all blocks. */
  readonly #candidates: Candidate[] = [closed(0)];
  #keyAllowed = true;

  constructor(text: string) {
    this.#cursor = new Cursor(text);
  }

  /** The next token, which stays. Throws `YamlProblem`. */
  peek(): Token {
    for (;;) {
      const token = this.#queue[this.#head];
      if (token !== undefined) {
        const { candidate } = token;
        if (candidate === undefined || !candidate.waits || !this.#isOpen(candidate)) return token;
      }
      this.#fetch();
    }
  }

  take(): Token {
    const token = this.peek();
    this.#taken++;
    this.#head++;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    }
    return token;
  }

  get #flowLevel(): number {
    return this.#candidates.length - 1;
  }

  get #candidate(): Candidate {
    return this.#candidates.at(-1) as Candidate;
  }

  #put(is: Sign, at: number, candidate?: Candidate): Token {
    const token: Token = { is, at, candidate, text: '', plain: false, tag: undefined, directive: undefined };
    this.#queue.push(token);
    return token;
  }

  /** Puts a token before that of the number; behind all when that one is gone. */
  #insert(number: number, is: Sign, at: number): void {
    const token = this.#put(is, at);
    if (number < this.#taken) return;
    const place = this.#head + number - this.#taken;
    this.#queue.copyWithin(place + 1, place, this.#queue.length - 1);
    this.#queue[place] = token;
  }

  get #nextNumber(): number {
    return this.#taken + this.#queue.length - this.#head;
  }

  #isOpen(candidate: Candidate): boolean {
    if (!candidate.open) return false;
    const { lineStart, at } = this.#cursor;
    if (candidate.lineStart === lineStart && candidate.at + yamlKeyLengthMax >= at) return true;
    this.#close(candidate);
    return false;
  }

  #close(candidate: Candidate): void {
    if (!candidate.open) return;
    if (candidate.required) throw scannerError(this.#cursor, "could not find expected ':'");
    candidate.open = false;
  }

  /** What comes now may be the start of a key. */
  #offerKey(): Candidate | undefined {
    if (!this.#keyAllowed) return undefined;
    const { at, lineStart, column } = this.#cursor;
    this.#close(this.#candidate);
    const required = this.#flowLevel === 0 && this.#indent === column;
    const candidate = { open: true, required, token: this.#nextNumber, waits: true, at, lineStart };
    this.#candidates[this.#flowLevel] = candidate;
    return candidate;
  }

  #deeper(is: 'blockSequence' | 'blockMapping', { at, lineStart }: { at: number; lineStart: number }, number?: number): void {
    const column = at - lineStart;
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > jsonDepthMax) throw tooDeep(this.#cursor);
    if (number === undefined) this.#put(is, at);
    else this.#insert(number, is, at);
  }

  #shallower(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#put('blockEnd', this.#cursor.at);
      this.#indent = this.#indents.pop() as number;
    }
  }

  #toNextToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      const tabs = this.#flowLevel > 0 || !this.#keyAllowed;
      for (let code = cursor.code(); code === 32 || (tabs && code === 9); code = cursor.code()) cursor.at++;
      cursor.passComment();
      if (!isBreak(cursor.code())) return;
      cursor.passBreak();
      if (this.#flowLevel === 0) this.#keyAllowed = true;
    }
  }

  #fetch(): void {
    this.#toNextToken();
    const cursor = this.#cursor;
    this.#shallower(cursor.column);
    if (cursor.isAtEnd) return this.#fetchEnd();
    if (cursor.column === 0 && cursor.code() === 37) return this.#fetchDirective();
    if (cursor.isAtDocumentMark) return this.#fetchDocumentMark();
    const char = cursor.text[cursor.at] as string;
    const alone = isBlankOrEnd(cursor.code(1));
    const inFlow = this.#flowLevel > 0;
    if (char === '[' || char === '{') return this.#fetchFlowStart(char);
    if (char === ']' || char === '}') return this.#fetchFlowEnd(char);
    if (char === ',') return this.#fetchComma();
    if (char === '-' && alone) return this.#fetchDash();
    if (char === '?' && (inFlow || alone)) return this.#fetchQuestion();
    if (char === ':' && (inFlow || alone)) return this.#fetchColon();
    if ((char === '|' || char === '>') && !inFlow) return this.#fetchBlockScalar();
    if ('*&!\'"'.includes(char)) return this.#fetchNode(char);
    const plain = char === '-' ? !isBlank(cursor.code(1)) : char === '?' || char === ':' ? !inFlow : !notPlain.has(char);
    if (!plain || isBlank(cursor.code())) throw scannerError(cursor, 'found character that cannot start any token');
    this.#fetchNode(char);
  }

  #fetchEnd(): void {
    const cursor = this.#cursor;
    // The end is the start of a line, even without a line break.
    const at = cursor.column === 0 ? cursor.at : cursor.at + 1;
    cursor.at = at;
    cursor.lineStart = at;
    this.#toOutside();
    this.#put('end', at);
  }

  /** Ends all blocks: only at the margin. */
  #toOutside(): void {
    this.#shallower(-1);
    this.#close(this.#candidate);
    this.#keyAllowed = false;
  }

  #fetchDirective(): void {
    this.#toOutside();
    const { at } = this.#cursor;
    const directive = directiveAt(this.#cursor);
    this.#put('directive', at).directive = directive;
  }

  #fetchDocumentMark(): void {
    this.#toOutside();
    this.#put(this.#cursor.code() === 45 ? 'documentStart' : 'documentEnd', this.#cursor.at);
    this.#cursor.at += 3;
  }

  #fetchSign(is: Sign, candidate?: Candidate): void {
    this.#put(is, this.#cursor.at++, candidate);
  }

  #fetchFlowStart(is: '[' | '{'): void {
    const candidate = this.#offerKey();
    this.#candidates.push(closed(this.#nextNumber));
    if (this.#flowLevel > jsonDepthMax) throw tooDeep(this.#cursor);
    this.#keyAllowed = true;
    this.#fetchSign(is, candidate);
  }

  #fetchFlowEnd(is: ']' | '}'): void {
    this.#close(this.#candidate);
    if (this.#flowLevel > 0) {
      const inner = this.#candidates.pop() as Candidate;
      // An empty collection no longer waits to become a key: so it is with upstream's parser.
      if (this.#candidate.token === inner.token) this.#candidate.waits = false;
    }
    this.#keyAllowed = false;
    this.#fetchSign(is);
  }

  #fetchComma(): void {
    this.#close(this.#candidate);
    this.#keyAllowed = true;
    this.#fetchSign(',');
  }

  #fetchDash(): void {
    if (this.#flowLevel === 0) {
      if (!this.#keyAllowed) throw scannerError(this.#cursor, 'block sequence entries are not allowed in this context');
      this.#deeper('blockSequence', this.#cursor);
    }
    this.#close(this.#candidate);
    this.#keyAllowed = true;
    this.#fetchSign('-');
  }

  #fetchQuestion(): void {
    if (this.#flowLevel === 0) {
      if (!this.#keyAllowed) throw scannerError(this.#cursor, 'mapping keys are not allowed in this context');
      this.#deeper('blockMapping', this.#cursor);
    }
    this.#close(this.#candidate);
    this.#keyAllowed = this.#flowLevel === 0;
    this.#fetchSign('?');
  }

  #fetchColon(): void {
    const candidate = this.#candidate;
    if (this.#isOpen(candidate)) {
      this.#insert(candidate.token, '?', candidate.at);
      this.#deeper('blockMapping', candidate, candidate.token);
      candidate.open = false;
      this.#keyAllowed = false;
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#keyAllowed) throw scannerError(this.#cursor, 'mapping values are not allowed in this context');
        this.#deeper('blockMapping', this.#cursor);
      }
      this.#keyAllowed = this.#flowLevel === 0;
    }
    this.#fetchSign(':');
  }

  #fetchBlockScalar(): void {
    this.#close(this.#candidate);
    this.#keyAllowed = true;
    const { at } = this.#cursor;
    const value = blockScalar(this.#cursor, this.#indent);
    this.#put('scalar', at).text = value;
  }

  /** What may be a key as it is: aliases, anchors, tags and scalars. */
  #fetchNode(char: string): void {
    const candidate = this.#offerKey();
    this.#keyAllowed = false;
    const cursor = this.#cursor;
    const { at } = cursor;
    if (char === '*' || char === '&') {
      const name = anchorName(cursor);
      this.#put(char === '*' ? 'alias' : 'anchor', at, candidate).text = name;
    } else if (char === '!') {
      const tag = tagAt(cursor);
      this.#put('tag', at, candidate).tag = tag;
    } else if (char === '"' || char === "'") {
      const value = quotedScalar(cursor);
      this.#put('scalar', at, candidate).text = value;
    } else {
      const { value, endsLine } = plainScalar(cursor, this.#indent + 1, this.#flowLevel > 0);
      if (endsLine) this.#keyAllowed = true;
      const token = this.#put('scalar', at, candidate);
      token.text = value;
      token.plain = true;
    }
  }
}

const notPlain = new Set(',[]{}#&*!|>\'"%@`');

const tooDeep = (cursor: Cursor): YamlProblem => scannerError(cursor, `exceeded max depth of ${jsonDepthMax}`);
