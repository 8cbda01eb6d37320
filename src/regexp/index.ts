// Patterns that users write: RE2's syntax (https://github.com/google/re2/wiki/Syntax) with the semantics of Go's regexp, in time linear in the
// text and within a bound that the caller sets. Whatever comes from outside goes through here; JavaScript's RegExp is for patterns of our own.
export { compileRegexp, RegexpError, regexpProblem } from './compile.ts';
export { Regexp } from './regexp.ts';
export { Work, WorkError } from './work.ts';
