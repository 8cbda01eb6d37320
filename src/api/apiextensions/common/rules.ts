// Rules of schemas in CEL, compiled once for a schema (KEP-2876; apiextensions-apiserver, pkg/apiserver/schema/cel, Compile).
import type { JSONSchemaProps, ValidationRule } from '#api/apiextensions/v1';
import {
  celTypes,
  compile,
  environmentOf,
  isProgram,
  type Program,
  schemaType,
  type SchemaShape,
  type SizedShape,
  sizesOf,
} from '#cel';
import type { Work } from '#regexp';
import { own } from '#utils';
import { otherEntries, schemaItems } from './structure.ts';

/** A rule that compiles, or the reason why it does not. */
export interface CompiledRule {
  rule: ValidationRule;
  program?: Program;
  problem?: string;
  message?: Program;
  messageProblem?: string;
  /** The rule compares a value with the one before (it uses `oldSelf`), so that it is checked in updates only. */
  usesOld: boolean;
}

/** What a program costs at most for values of a schema; both variables, and whatever the program makes of them, are judged by it. */
export function ruleCost(program: Program, { schema, isRoot }: Pick<RuleTree, 'schema' | 'isRoot'>): number {
  const sized = sizesOf(schema as SizedShape, isRoot);
  return program.costMax({ of: () => sized, made: sized });
}

/** The rules of a schema and of the schemas inside it; absent where there are none. */
export interface RuleTree {
  schema: JSONSchemaProps;
  /** Whether it is the schema of a whole resource. */
  isRoot: boolean;
  type: celTypes.Type | undefined;
  rules: readonly CompiledRule[];
  /** The rules below `allOf`, in the order of the schema. */
  allOf: readonly (RuleTree | undefined)[];
  items?: RuleTree;
  others?: RuleTree;
  fields: ReadonlyMap<string, RuleTree>;
}

function compileRule(rule: ValidationRule, type: celTypes.Type | undefined, work?: Work): CompiledRule {
  if (!rule.rule?.trim()) return { rule, usesOld: false };
  if (!type) return { rule, usesOld: false, problem: 'rule declared on a schema whose values have no type' };
  const old = rule.optionalOldSelf ? celTypes.optional(type) : type;
  const environment = environmentOf([
    ['self', type],
    ['oldSelf', old],
  ]);
  const program = compile(rule.rule, environment, [], work);
  const made: CompiledRule = { rule, usesOld: isProgram(program) && program.uses('oldSelf') };
  if (!isProgram(program)) made.problem = program.problem;
  else if (program.type.kind !== 'bool') made.problem = 'cel expression must evaluate to a bool';
  else made.program = program;
  if (!rule.messageExpression?.trim()) return made;
  const message = compile(rule.messageExpression, environment, [], work);
  if (!isProgram(message))
    made.messageProblem = message.problem.replace(/^compilation failed/, 'messageExpression compilation failed');
  else if (message.type.kind !== 'string') made.messageProblem = 'messageExpression must evaluate to a string';
  else made.message = message;
  return made;
}

/** The rules that `source` states of the values of `schema`; they are the same but for schemas in allOf. */
function build(source: JSONSchemaProps, schema: JSONSchemaProps, isRoot: boolean, work?: Work): RuleTree | undefined {
  const type = schemaType(schema as SchemaShape, 'object', isRoot);
  const rules = (source['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, type, work));
  const below = (inner: JSONSchemaProps | undefined, of: JSONSchemaProps | undefined): RuleTree | undefined =>
    inner && of && build(inner, of, false, work);
  const items = below(schemaItems(source), schemaItems(schema));
  const others = below(otherEntries(source), otherEntries(schema));
  const fields = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(source.properties ?? {})) {
    const tree = below(property, own(schema.properties ?? {}, name));
    if (tree) fields.set(name, tree);
  }
  const allOf = (source.allOf ?? []).map((one) => build(one, schema, isRoot, work));
  if (rules.length === 0 && !items && !others && fields.size === 0 && !allOf.some(Boolean)) return undefined;
  return { schema, isRoot, type, rules, allOf, fields, ...(items && { items }), ...(others && { others }) };
}

const trees = new WeakMap<JSONSchemaProps, RuleTree | null>();

/** The rules of a schema; undefined: there are none. Throws `WorkError` when compiling them takes more than `work`. */
export function rulesOf(schema: JSONSchemaProps, isRoot: boolean, work?: Work): RuleTree | undefined {
  const known = trees.get(schema);
  if (known !== undefined) return known ?? undefined;
  const tree = build(schema, schema, isRoot, work);
  trees.set(schema, tree ?? null);
  return tree;
}
