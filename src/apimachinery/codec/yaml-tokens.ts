// The tokens of a YAML text. They are all read before nodes are made of them, in steps, because reading them takes half of the time that a large
// text takes. An error in the text is kept, and thrown when the token at which it occurred is asked for.
import type { Steps } from '#utils';
import { TooLargeError } from '../schema/index.ts';
import { yamlTokensMax, yamlTokensPerStep, yamlValuesMax } from './limits.ts';
import { type Token, YamlScanner } from './yaml-scan.ts';

export class YamlTokens {
  readonly #tokens: readonly Token[];
  /** What reading ended with, where it ended before the document did. */
  readonly #failure: unknown;
  #at = 0;

  private constructor(tokens: readonly Token[], failure: unknown) {
    this.#tokens = tokens;
    this.#failure = failure;
  }

  /** Reads the tokens of the first document, and that which follows the last of them. */
  static *of(text: string): Steps<YamlTokens> {
    const scanner = new YamlScanner(text);
    const tokens: Token[] = [];
    let starts = 0;
    for (;;) {
      try {
        scanner.peek();
      } catch (error) {
        return new YamlTokens(tokens, error);
      }
      const token = scanner.take();
      tokens.push(token);
      if (token.is === 'documentStart') starts++;
      if (starts > 1 || token.is === 'documentEnd' || token.is === 'end') return new YamlTokens(tokens, undefined);
      if (tokens.length >= yamlTokensMax) return new YamlTokens(tokens, new TooLargeError(yamlValuesMax));
      if (tokens.length % yamlTokensPerStep === 0) yield;
    }
  }

  /** The next token, which stays. Throws `YamlProblem`. */
  peek(): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.#failure;
    return token;
  }

  take(): Token {
    const token = this.peek();
    this.#at++;
    return token;
  }
}
