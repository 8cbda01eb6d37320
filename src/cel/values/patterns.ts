// Regular expressions in expressions: what is no pattern is an error of the expression, and what takes too long costs too much.
import { compileRegexp, type Regexp, RegexpError, WorkError } from '#regexp';
import { CelError, CostError } from '../errors.ts';
import { workNow } from '../meter.ts';

function withCelErrors<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (error instanceof RegexpError) throw new CelError(error.message);
    if (error instanceof WorkError) throw new CostError();
    throw error;
  }
}

/** The pattern; throws `CelError` when the text is not a valid pattern. */
export const patternOf = (source: string): Regexp => withCelErrors(() => compileRegexp(source, workNow()));

export const matches = (text: string, source: string): boolean => withCelErrors(() => patternOf(source).test(text, workNow()));

export const find = (text: string, source: string): string => withCelErrors(() => patternOf(source).find(text, workNow()) ?? '');

/** A negative `most` is no limit. */
export const findAll = (text: string, source: string, most = -1n): string[] =>
  withCelErrors(() => patternOf(source).findAll(text, most < 0n ? Infinity : Number(most), workNow()));
