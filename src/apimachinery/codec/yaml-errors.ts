// Syntax errors of YAML in the words and with the lines of upstream's parser: errors of its scanner name the line they are in, errors of its
// grammar the line before, and neither names the first.
import { DecodeError } from '../schema/index.ts';
import { Lines } from './yaml-cursor.ts';

/** What is wrong with a text, and where. Becomes a `DecodeError` once the text is at hand to count its lines. */
export class YamlProblem extends Error {
  readonly at: number;
  readonly inGrammar: boolean;

  constructor(message: string, at: number, inGrammar: boolean) {
    super(message);
    this.at = at;
    this.inGrammar = inGrammar;
  }
}

/** A mistake where the scanner stands. */
export const scannerError = ({ at }: { at: number }, problem: string): YamlProblem => new YamlProblem(problem, at, false);

/** The error for a token at a place where none of its kind may stand. */
export const grammarError = ({ at }: { at: number }, problem: string): YamlProblem => new YamlProblem(problem, at, true);

export function asDecodeError({ message, at, inGrammar }: YamlProblem, text: string): DecodeError {
  const line = new Lines(text).of(Math.min(at, text.length)) + (at > text.length ? 1 : 0);
  return new DecodeError(line === 0 ? `yaml: ${message}` : `yaml: line ${inGrammar ? line : line + 1}: ${message}`);
}
