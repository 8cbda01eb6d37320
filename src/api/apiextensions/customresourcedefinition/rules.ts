// Rules of schemas mean something (pkg/apis/apiextensions/validation; KEP-2876).
import type { JSONSchemaProps, ValidationRule } from '#api/apiextensions/v1';
import type { Path } from '#apimachinery/field';
import { type Work, WorkError } from '#regexp';
import type { Report } from '../../common/report.ts';
import { type CompiledRule, otherEntries, rulesOf, type RuleTree, schemaItems } from '../common/index.ts';
import { RuleCosts, type Times, timesInside } from './rule-costs.ts';

/** As upstream's internal type prints. */
const printed = (rule: ValidationRule): unknown => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

interface Place {
  path: Path;
  /** The list around in which an item's old value cannot be told. */
  loose: Path | undefined;
  times: Times;
  /** Where schemas are wrong: what rules at or around such a place mean is not asked. */
  wrong: readonly string[];
}

function validateRule(
  report: Report,
  costs: RuleCosts,
  compiled: CompiledRule,
  tree: RuleTree,
  { path, loose, times }: Place,
): void {
  const { rule, problem, messageProblem, usesOld } = compiled;
  costs.rule(path.child('rule'), compiled, tree, times);
  if (problem) report.invalid(path.child('rule'), printed(rule), problem);
  if (messageProblem) report.invalid(path.child('messageExpression'), printed(rule), messageProblem);
  costs.message(path.child('messageExpression'), compiled, tree);
  if (usesOld && loose) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${loose.toString()}`;
    report.invalid(path.child('rule'), rule.rule, detail);
  }
  if (!usesOld && rule.optionalOldSelf !== undefined) {
    report.invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule');
  }
}

/** Whether a failure stands at the path or below it. */
const isWithin = (path: string, field: string): boolean =>
  field.startsWith(path) && (field.length === path.length || field[path.length] === '.' || field[path.length] === '[');

function visit(report: Report, costs: RuleCosts, place: Place, source: JSONSchemaProps, tree: RuleTree | undefined): void {
  if (!tree) return;
  const { path, loose, wrong } = place;
  const others = otherEntries(source);
  const items = schemaItems(source);
  const times = timesInside(place.times, source);
  const below = (at: Path, inner: JSONSchemaProps, of: RuleTree | undefined, own = loose): void =>
    visit(report, costs, { path: at, loose: own, times, wrong }, inner, of);
  if (others) below(path.child('additionalProperties'), others, tree.others);
  for (const name of Object.keys(source.properties ?? {}).sort()) {
    const property = source.properties?.[name];
    if (property) below(path.child('properties').key(name), property, tree.fields.get(name));
  }
  source.allOf?.forEach((one, index) => below(path.child('allOf').index(index), one, tree.allOf[index]));
  if (items) {
    const isKeyed = source['x-kubernetes-list-type'] === 'map';
    below(path.child('items'), items, tree.items, isKeyed ? loose : (loose ?? path));
  }
  if (wrong.length > 0 && tree.rules.length > 0 && wrong.some((field) => isWithin(path.toString(), field))) return;
  tree.rules.forEach((rule, index) =>
    validateRule(report, costs, rule, tree, { ...place, path: path.child('x-kubernetes-validations').index(index) }),
  );
}

/** `isStored`: the schema of this version has not changed. `work` pays for compiling. `wrong`: where schemas are. */
export function validateRules(
  report: Report,
  path: Path,
  schema: JSONSchemaProps,
  { work, isStored, wrong }: { work: Work; isStored: boolean; wrong: readonly string[] },
): void {
  const costs = new RuleCosts(report, isStored);
  let tree: RuleTree | undefined;
  try {
    tree = rulesOf(schema, true, work);
  } catch (error) {
    if (!(error instanceof WorkError)) throw error;
    return report.forbidden(path, 'x-kubernetes-validations of the entire OpenAPIv3 schema take too much work to compile');
  }
  visit(report, costs, { path, loose: undefined, times: 1, wrong }, schema, tree);
  costs.total(path);
}
