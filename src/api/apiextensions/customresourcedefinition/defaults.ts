// Defaults satisfy the schemas they belong to (apiextensions-apiserver, pkg/apiserver/schema/defaulting, ValidateDefaults).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import type { Path } from '#apimachinery/field';
import { deepCopy, deepEqual } from '#utils';
import type { Report } from '../../common/report.ts';
import { prune, rulesOf, runRules, schemaItems, validateEmbedded, validateValue } from '../common/index.ts';

const metaFields = ['metadata', 'apiVersion', 'kind'];

function validateDefault(report: Report, path: Path, schema: JSONSchemaProps, isObjectItself: boolean, isRoot: boolean): void {
  const value = schema.default;
  const pruned = deepCopy(value);
  prune(schema, pruned, isObjectItself);
  if (!deepEqual(pruned, value)) report.invalid(path, value, 'must not have unknown fields');
  const before = report.count;
  report.add(validateEmbedded(schema, value, path, isObjectItself));
  if (report.count === before) report.add(validateValue(schema, value, path.toString()));
  const rules = rulesOf(schema, isRoot);
  if (!rules || report.count > before) return;
  report.add(runRules(rules, value, { old: value, place: path }).errors);
  if (report.count === before) report.add(runRules(rules, value, { place: path }).errors);
}

export function validateDefaults(report: Report, path: Path, schema: JSONSchemaProps, isRoot = true, insideMeta = false): void {
  const isObjectItself = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const inside = insideMeta && !isObjectItself;
  // Inside metadata a default is only as good as the field it fills.
  if (schema.default !== undefined && schema.default !== null) {
    if (inside) report.add(validateValue(schema, schema.default, path.child('default').toString()));
    else validateDefault(report, path.child('default'), schema, isObjectItself, isRoot);
  }
  const items = schemaItems(schema);
  if (items) validateDefaults(report, path.child('items'), items, false, inside);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = isObjectItself && metaFields.includes(name);
    validateDefaults(report, path.child('properties').key(name), property, false, inside || isMeta);
  }
}
