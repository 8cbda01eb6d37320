// What can be told of literal arguments before anything runs (cel-go cel/validator.go: ValidateDurationLiterals, ValidateTimestampLiterals,
// ValidateRegexLiterals).
import type { Issue, Node } from './ast.ts';
import { patternOf } from './patterns.ts';
import { CelError } from './errors.ts';
import { parseDuration, parseTimestamp } from './times.ts';

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
  for (const value of Object.values(node)) visitAny(value, issues);
}

function visitAny(value: unknown, issues: Issue[]): void {
  if (Array.isArray(value)) for (const item of value) visitAny(item, issues);
  else if (typeof value === 'object' && value !== null && !('type' in value)) {
    if ('kind' in value) visit(value as Node, issues);
    else for (const inner of Object.values(value)) visitAny(inner, issues);
  }
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
