// What can be told of literal arguments before anything runs (cel-go cel/validator.go: ValidateDurationLiterals, ValidateTimestampLiterals,
// ValidateRegexLiterals).
import { type Issue, type Node, partsOf } from '../syntax/ast.ts';
import { patternOf } from '../values/patterns.ts';
import { CelError } from '../errors.ts';
import { parseDuration, parseTimestamp } from '../values/times.ts';

const readers: Record<string, (text: string) => unknown> = {
  duration: parseDuration,
  timestamp: parseTimestamp,
  matches: patternOf,
};

/** Literals that their function cannot read, in a tree that fits otherwise. */
export function literalIssues(node: Node): Issue[] {
  const issues: Issue[] = [];
  visit(node, issues);
  return issues;
}

function visit(node: Node, issues: Issue[]): void {
  if (node.kind === 'call') checkCall(node, issues);
  for (const part of partsOf(node)) visit(part, issues);
}

function checkCall({ name, args, target }: Node & { kind: 'call' }, issues: Issue[]): void {
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  const argument = name === 'matches' && !target ? args[1] : args[0];
  if (!read || argument?.kind !== 'literal' || argument.value.type !== 'string') return;
  try {
    read(argument.value.value as string);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    issues.push({ at: argument.at, message: `invalid ${name} argument` });
  }
}
