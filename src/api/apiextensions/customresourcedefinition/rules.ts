// Rules of schemas mean something (pkg/apis/apiextensions/validation; KEP-2876).
import type { JSONSchemaProps, ValidationRule } from '#api/apiextensions/v1';
import type { Path } from '#apimachinery/field';
import type { Report } from '../../common/report.ts';
import { type CompiledRule, otherEntries, rulesOf, type RuleTree, schemaItems } from '../common/index.ts';

/** As upstream's internal type prints. */
const printed = (rule: ValidationRule): unknown => ({
  Rule: rule.rule ?? '',
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

/** `loose`: the list around in which an item's old value cannot be told. */
function validateRule(report: Report, path: Path, compiled: CompiledRule, loose: Path | undefined): void {
  const { rule, problem, messageProblem, usesOld } = compiled;
  if (problem) report.invalid(path.child('rule'), printed(rule), problem);
  if (messageProblem) report.invalid(path.child('messageExpression'), printed(rule), messageProblem);
  if (usesOld && loose) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${loose.toString()}`;
    report.invalid(path.child('rule'), rule.rule, detail);
  }
  if (!usesOld && rule.optionalOldSelf !== undefined) {
    report.invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule');
  }
}

function visit(report: Report, path: Path, source: JSONSchemaProps, tree: RuleTree | undefined, loose?: Path): void {
  if (!tree) return;
  const others = otherEntries(source);
  const items = schemaItems(source);
  if (others) visit(report, path.child('additionalProperties'), others, tree.others, loose);
  for (const name of Object.keys(source.properties ?? {}).sort()) {
    const property = source.properties?.[name];
    if (property) visit(report, path.child('properties').key(name), property, tree.fields.get(name), loose);
  }
  source.allOf?.forEach((one, index) => visit(report, path.child('allOf').index(index), one, tree.allOf[index], loose));
  if (items) {
    const isKeyed = source['x-kubernetes-list-type'] === 'map';
    visit(report, path.child('items'), items, tree.items, isKeyed ? loose : (loose ?? path));
  }
  tree.rules.forEach((rule, index) => validateRule(report, path.child('x-kubernetes-validations').index(index), rule, loose));
}

export function validateRules(report: Report, path: Path, schema: JSONSchemaProps): void {
  visit(report, path, schema, rulesOf(schema, true));
}
