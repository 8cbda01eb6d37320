// Values against the rules of their schemas (apiextensions-apiserver, pkg/apiserver/schema/cel, Validator).
import type { ValidationRule } from '#api/apiextensions/v1';
import { errorText, type FieldError, type FieldErrorType, fieldErrorsMax, invalid } from '#apimachinery/field';
import {
  budgetCostMax,
  budgetWorkUnits,
  callCostMax,
  CelError,
  CostError,
  fromJson,
  Optional,
  type Program,
  type Value,
} from '#cel';
import { Work } from '#regexp';
import { deepEqual, own } from '#utils';
import { messageBytesMax } from './limits.ts';
import { resolveFieldPath } from './field-path.ts';
import type { CompiledRule, RuleTree } from './rules.ts';
import { correlatedItem, entryOf, fieldOf, isObject, itemOf, type Place } from './structure.ts';

export interface RuleFindings {
  errors: FieldError[];
  /** Failures of what was wrong before and is unchanged. */
  warnings: string[];
}

/** What decides whether a failure is only a warning: this value's old one, else that of the nearest value around it that has one. */
interface Change {
  own?: { now: unknown; before: unknown };
  around?: { now: unknown; before: unknown };
}

const isUnchanged = ({ own, around }: Change): boolean => {
  const pair = own ?? around;
  return pair !== undefined && deepEqual(pair.now, pair.before);
};

/** Ends the evaluation: all further rules are left out. */
class Stop extends Error {}

const textOf = ({ message = '', rule }: ValidationRule): string => (message || rule).trim();
const detailOf = (rule: ValidationRule): string => (rule.message ? rule.message.trim() : `failed rule: ${textOf(rule)}`);

const reasons: Readonly<Record<string, FieldErrorType>> = {
  FieldValueForbidden: 'FieldValueForbidden',
  FieldValueRequired: 'FieldValueRequired',
  FieldValueDuplicate: 'FieldValueDuplicate',
};

class RuleRun {
  readonly findings: RuleFindings = { errors: [], warnings: [] };
  #budget: number;
  readonly #work = new Work(budgetWorkUnits);

  constructor(budget: number) {
    this.#budget = budget;
  }

  visit(tree: RuleTree | undefined, value: unknown, old: unknown, place: Place, change: Change): void {
    if (!tree || value === null || value === undefined) return;
    this.#rules(tree, value, old ?? undefined, place, change);
    const { around } = change;
    for (const one of tree.allOf) this.visit(one, value, old, place, around ? { around } : {});
    if (Array.isArray(value)) this.#list(tree, value, old, place, change);
    else if (isObject(value)) this.#object(tree, value, old, place, change);
  }

  #list(tree: RuleTree, list: unknown[], old: unknown, place: Place, { own, around }: Change): void {
    if (!tree.items) return;
    for (const [index, item] of list.entries()) {
      const before = correlatedItem(tree.schema, item, old);
      const pair = own && before && { now: item, before: before.value };
      const nearest = own ?? around;
      const change = { ...(pair && { own: pair }), ...(nearest && { around: nearest }) };
      this.visit(tree.items, item, before?.value, itemOf(place, index), change);
    }
  }

  #object(tree: RuleTree, value: Record<string, unknown>, old: unknown, place: Place, change: Change): void {
    const before = isObject(old) ? old : {};
    const below = (name: string): Change => {
      const { own, around } = change;
      if (!own) return change;
      if (!around && (name === 'apiVersion' || name === 'kind')) return {};
      return { ...(Object.hasOwn(before, name) && { own: { now: value[name], before: before[name] } }), around: own };
    };
    if (!tree.others && tree.fields.size === 0) return;
    for (const [name, item] of Object.entries(value)) {
      const field = tree.fields.get(name);
      if (tree.others) this.visit(tree.others, item, own(before, name), entryOf(place, name), below(name));
      if (field) this.visit(field, item, own(before, name), fieldOf(place, name), below(name));
    }
  }

  #rules(tree: RuleTree, value: unknown, old: unknown, place: Place, change: Change): void {
    if (tree.rules.length === 0) return;
    const { type } = tree;
    const self = type && this.#value(tree, value, type, place);
    const oldSelf = type && old !== undefined ? this.#value(tree, old, type, place) : undefined;
    for (const rule of tree.rules) {
      if (rule.problem) this.#tell(tree, place, `rule compile error: ${rule.problem}`);
      const { optionalOldSelf } = rule.rule;
      if (!rule.program || self === undefined || (rule.usesOld && oldSelf === undefined && !optionalOldSelf)) continue;
      const variables = new Map<string, Value>([['self', self]]);
      if (optionalOldSelf) variables.set('oldSelf', new Optional(oldSelf));
      else if (oldSelf !== undefined) variables.set('oldSelf', oldSelf);
      if (this.#holds(tree, rule.program, rule, variables, place)) continue;
      const error = this.#failure(tree, rule, variables, value, place);
      if (!rule.usesOld && isUnchanged(change)) this.findings.warnings.push(errorText(error));
      else this.#note(error);
    }
  }

  /** The value as rules see it; undefined where the text is not a valid time or duration, which is reported then. */
  #value(tree: RuleTree, json: unknown, type: NonNullable<RuleTree['type']>, place: Place): Value | undefined {
    try {
      return fromJson(json, type);
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#tell(tree, place, error.message);
      return undefined;
    }
  }

  #tell(tree: RuleTree, place: Place, detail: string): void {
    this.#note(invalid(place, tree.schema.type ?? '', detail));
  }

  #note(error: FieldError): void {
    this.findings.errors.push(error);
    if (this.findings.errors.length > fieldErrorsMax) throw new Stop('more errors than are told');
  }

  #stop(tree: RuleTree, place: Place, detail: string): never {
    this.#tell(tree, place, detail);
    throw new Stop(detail);
  }

  #evaluate(program: Program, variables: ReadonlyMap<string, Value>): Value {
    const costMax = Math.min(callCostMax, Math.max(0, this.#budget));
    const onCost = (cost: number): void => void (this.#budget -= cost);
    return program.evaluate(variables, { costMax, work: this.#work, onCost });
  }

  /** False: the rule does not hold. A rule that cannot be evaluated is reported here and counts as holding. */
  #holds(tree: RuleTree, program: Program, { rule }: CompiledRule, variables: ReadonlyMap<string, Value>, place: Place): boolean {
    const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';
    try {
      return this.#evaluate(program, variables) === true;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      const text = textOf(rule);
      if (error instanceof CostError) {
        if (this.#budget < 0) this.#stop(tree, place, outOfBudget);
        const detail = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`;
        this.#stop(tree, place, detail);
      }
      const mismatch = `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`;
      this.#tell(
        tree,
        place,
        error.message.startsWith('no such overload') ? mismatch : `${error.message} evaluating rule: ${text}`,
      );
      return true;
    }
  }

  #failure(tree: RuleTree, rule: CompiledRule, variables: ReadonlyMap<string, Value>, value: unknown, place: Place): FieldError {
    const { type, field } = {
      type: reasons[rule.rule.reason ?? ''] ?? 'FieldValueInvalid',
      field: fieldPath(tree, rule.rule, place),
    };
    const detail = this.#message(rule, variables) ?? detailOf(rule.rule);
    const isShown = typeof value !== 'object' && type !== 'FieldValueForbidden' && type !== 'FieldValueRequired';
    return { type, field, ...(isShown && { badValue: value }), detail: type === 'FieldValueDuplicate' ? '' : detail };
  }

  /** The text a rule makes itself; undefined: it makes none that can be used. */
  #message({ message }: CompiledRule, variables: ReadonlyMap<string, Value>): string | undefined {
    if (!message) return undefined;
    try {
      const value = this.#evaluate(message, variables);
      const text = typeof value === 'string' ? value.trim() : '';
      return text === '' || text.includes('\n') || text.length > messageBytesMax ? undefined : text;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return undefined;
    }
  }
}

function fieldPath({ schema }: RuleTree, { fieldPath: path }: ValidationRule, place: Place): string {
  const target = path ? resolveFieldPath(path, schema) : undefined;
  if (target === undefined || typeof target === 'string') return place?.toString() ?? '<nil>';
  return fieldOf(place, target.steps.join('.')).toString();
}

/**
 * What the rules say of a value. `old`: the value before; absent: it is new. `forgives`: failures of what is unchanged are warnings only.
 */
export function runRules(
  tree: RuleTree,
  value: unknown,
  { old, place, forgives = false }: { old?: unknown; place?: Place; forgives?: boolean } = {},
): RuleFindings {
  const run = new RuleRun(budgetCostMax);
  try {
    run.visit(tree, value, old, place, forgives ? { own: { now: value, before: old } } : {});
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return run.findings;
}
