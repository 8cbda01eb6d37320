// Structural schemas: types are said outside of value validations, so that objects can be pruned and defaulted
// (KEP-1693 and KEP-95; pkg/apiserver/schema, ValidateStructural).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { errorText, type FieldError, type Path } from '#apimachinery/field';
import { regexpProblem, type Work, WorkError } from '#regexp';
import { own } from '#utils';
import { semanticEqual } from '../../common/equality.ts';
import { collectIn, isEmpty, isEmptyMap, Report } from '../../common/report.ts';

type Level = 'root' | 'item' | 'field';

const singleItems = ({ items }: JSONSchemaProps): JSONSchemaProps | undefined => (Array.isArray(items) ? undefined : items);

const schemaOf = (value: JSONSchemaProps | boolean | undefined): JSONSchemaProps | undefined =>
  typeof value === 'object' && value !== null ? value : undefined;

const intOrString = [{ type: 'integer' }, { type: 'string' }];
const isIntOrString = (anyOf: JSONSchemaProps[] | undefined): boolean => anyOf?.length === 2 && semanticEqual(anyOf, intOrString);

/** What cannot be part of a structural schema at all; undefined: nothing of the kind. */
export function unsupportedPart(schema: JSONSchemaProps): string | undefined {
  const { id, $schema, $ref, patternProperties, dependencies, additionalItems, definitions, items } = schema;
  const parts: [string, unknown][] = [
    ['id', id],
    ['schema', $schema],
    ['$ref', $ref],
    ['patternProperties', isEmptyMap(patternProperties) ? '' : patternProperties],
    ['dependencies', isEmptyMap(dependencies) ? '' : dependencies],
    ['additionalItems', additionalItems === undefined ? '' : true],
    ['definitions', isEmptyMap(definitions) ? '' : definitions],
  ];
  const found = parts.find(([, value]) => Boolean(value));
  if (found) return `OpenAPIV3Schema '${found[0]}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(items) && items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  return undefined;
}

/** Failures of one schema, and what compiling its patterns may still cost. */
class SchemaReport extends Report {
  readonly work: Work;

  constructor(work: Work) {
    super();
    this.work = work;
  }
}

/** Why a pattern is not valid; undefined: it is. When the patterns of a definition take too much work together, only the first that goes too far is reported. */
function patternProblem(pattern: string, work: Work): string | undefined {
  if (work.left < 0) return undefined;
  try {
    return regexpProblem(pattern, work);
  } catch (error) {
    if (error instanceof WorkError) return 'the patterns of this definition are too large together';
    throw error;
  }
}

function validatePattern(report: SchemaReport, path: Path, pattern: string | undefined): void {
  if (!pattern) return;
  const problem = patternProblem(pattern, report.work);
  if (problem !== undefined) report.invalid(path, pattern, `must be a valid regular expression, but isn't: ${problem}`);
}

const forbiddenWhenNested: [keyof JSONSchemaProps, string][] = [
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

const isSet = (value: unknown): boolean => value !== undefined && value !== false && !isEmpty(value);

/** Schemas inside `not`, `anyOf`, `allOf` and `oneOf` only say what values are like. */
function validateNested(report: SchemaReport, path: Path, schema: JSONSchemaProps | undefined, skipAnyOf = false): void {
  if (!schema) return;
  validateValues(report, path, schema, skipAnyOf, false);
  validateNested(report, path.child('items'), singleItems(schema));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    validateNested(report, path.child('properties').key(name), property);
  if (isSet(schema.type)) report.forbidden(path.child('type'), 'must be empty to be structural');
  if (isSet(schema.additionalProperties))
    report.forbidden(path.child('additionalProperties'), 'must be undefined to be structural');
  if (schema.default !== undefined) report.forbidden(path.child('default'), 'must be undefined to be structural');
  for (const [field, wanted] of forbiddenWhenNested)
    if (isSet(schema[field])) report.forbidden(path.child(field), `must be ${wanted} to be structural`);
  if (schema.properties?.['metadata']) {
    report.forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context');
  }
}

function validateValues(
  report: SchemaReport,
  path: Path,
  schema: JSONSchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
): void {
  const each = (field: 'anyOf' | 'allOf' | 'oneOf', skip = false): void =>
    schema[field]?.forEach((one, index) => validateNested(report, path.child(field).index(index), one, skip && index === 0));
  if (!skipAnyOf) each('anyOf');
  each('allOf', skipFirstAllOf);
  each('oneOf');
  validateNested(report, path.child('not'), schema.not);
  validatePattern(report, path.child('pattern'), schema.pattern);
}

const missingType = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' };

function validateType(report: Report, path: Path, schema: JSONSchemaProps, level: Level): void {
  const { type = '' } = schema;
  const embedded = schema['x-kubernetes-embedded-resource'];
  const at = path.child('type');
  const detail = 'must be object if x-kubernetes-embedded-resource is true';
  if (embedded && type !== 'object') {
    if (type === '') report.required(at, detail);
    else report.invalid(at, type, detail);
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) {
    report.required(at, `must not be empty ${missingType[level]}`);
  }
  if (embedded && schema.additionalProperties !== undefined) {
    report.forbidden(path.child('additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set');
  }
  if (level === 'root' && type !== '' && type !== 'object') report.invalid(at, type, 'must be object at the root');
}

/** What every object has is not to be described again. */
function validateObjectFields(report: Report, path: Path, schema: JSONSchemaProps, level: Level): void {
  const embedded = schema['x-kubernetes-embedded-resource'];
  const properties = path.child('properties');
  const isObject = level === 'root' || embedded;
  for (const name of ['kind', 'apiVersion']) {
    const property = own(schema.properties ?? {}, name);
    if (isObject && property && property.type !== 'string')
      report.invalid(properties.key(name).child('type'), property.type ?? '', 'must be string');
  }
  const metadata = schema.properties?.['metadata'];
  if (metadata) validateMetadata(report, properties.key('metadata'), metadata, isObject === true, level);
  if (embedded && !schema['x-kubernetes-preserve-unknown-fields'] && isEmptyMap(schema.properties)) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    report.required(properties, detail);
  }
}

function validateMetadata(report: Report, path: Path, schema: JSONSchemaProps, isObject: boolean, level: Level): void {
  if (isObject && schema.type !== 'object') report.invalid(path.child('type'), schema.type ?? '', 'must be object');
  if (level !== 'root') return;
  const { type: _, default: __, properties = {}, ...rest } = schema;
  const onlyNames = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  if (onlyNames && !Object.values(rest).some(isSet)) return;
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  report.forbidden(path, detail);
}

function validateInvariants(report: SchemaReport, path: Path, schema: JSONSchemaProps | undefined, level: Level): void {
  if (!schema) return;
  const items = singleItems(schema);
  if (schema.type === 'array' && !items) report.required(path.child('items'), 'must be specified');
  validateInvariants(report, path.child('items'), items, 'item');
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    validateInvariants(report, path.child('properties').key(name), property, 'field');
  const { additionalProperties: additional } = schema;
  if (additional !== undefined) {
    const at = path.child('additionalProperties');
    if (level === 'root') report.forbidden(at, 'must not be used at the root');
    validateInvariants(report, at, schemaOf(additional), 'field');
  }
  if (schema['x-kubernetes-int-or-string']) {
    for (const field of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
      if (schema[field]) report.invalid(path.child(field), true, 'must be false if x-kubernetes-int-or-string is true');
  }
  validateValues(report, path, schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf));
  validateType(report, path, schema, level);
  validateObjectFields(report, path, schema, level);
}

/** What value validations name has to be described outside of them as well. */
function validateCompleteness(
  report: Report,
  values: JSONSchemaProps,
  schema: JSONSchemaProps | undefined,
  at: Path,
  from: Path,
): void {
  if (!schema) return report.required(at, `because it is defined in ${from.toString()}`);
  if (values.not) validateNestedCompleteness(report, values.not, schema, at, from.child('not'));
  for (const field of ['allOf', 'anyOf', 'oneOf'] as const)
    values[field]?.forEach((one, index) => validateNestedCompleteness(report, one, schema, at, from.child(field).index(index)));
}

function validateNestedCompleteness(
  report: Report,
  values: JSONSchemaProps,
  schema: JSONSchemaProps | undefined,
  at: Path,
  from: Path,
): void {
  if (!schema) return report.required(at, `because it is defined in ${from.toString()}`);
  validateCompleteness(report, values, schema, at, from);
  const items = singleItems(values);
  if (items) validateNestedCompleteness(report, items, singleItems(schema), at.child('items'), from.child('items'));
  for (const [name, property] of Object.entries(values.properties ?? {})) {
    const inner = at.child('properties').key(name);
    validateNestedCompleteness(report, property, own(schema.properties ?? {}, name), inner, from.child('properties').key(name));
  }
}

/** All failures, in the order of their texts as upstream sorts them. */
export function structuralErrors(path: Path, schema: JSONSchemaProps, work: Work): FieldError[] {
  const errors = collectIn(new SchemaReport(work), (report) => {
    validateInvariants(report, path, schema, 'root');
    validateCompleteness(report, schema, schema, path, path);
  });
  return errors.sort((left, right) => (errorText(left) < errorText(right) ? -1 : 1));
}
