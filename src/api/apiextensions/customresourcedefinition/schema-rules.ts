// Rules of the schemas of custom resources besides their structure (pkg/apis/apiextensions/validation,
// ValidateCustomResourceDefinitionOpenAPISchema).
import type { JSONSchemaProps, ValidationRule } from '#api/apiextensions/v1';
import type { Path } from '#apimachinery/field';
import { own, repeats } from '#utils';
import { isEmpty, isEmptyMap, type Report } from '../../common/report.ts';
import { resolveFieldPath } from '../common/field-path.ts';
import { printedItems } from './printed.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Where in the object a schema is, as far as its rules depend on it. */
interface Place {
  /** Why defaults are forbidden here. */
  noDefaults?: string;
  insideMetadata?: boolean;
}

const isObject = (value: unknown): value is JSONSchemaProps =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const unsupported: [keyof JSONSchemaProps, (value: unknown) => boolean][] = [
  ['id', (value) => !isEmpty(value)],
  ['additionalItems', (value) => value !== undefined],
  ['patternProperties', (value) => !isEmptyMap(value as object)],
  ['definitions', (value) => !isEmptyMap(value as object)],
  ['dependencies', (value) => value !== undefined],
  ['$ref', (value) => value !== undefined],
];

function validateKeywords(report: Report, path: Path, schema: JSONSchemaProps, place: Place): void {
  const { type } = schema;
  if (type) report.known(path.child('type'), type, types);
  if (schema.default !== undefined && place.noDefaults)
    report.forbidden(path.child('default'), `must not be set ${place.noDefaults}`);
  for (const [field, isUsed] of unsupported)
    if (isUsed(schema[field])) report.forbidden(path.child(field), `${field} is not supported`);
  if (type === 'null') report.forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative');
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    report.forbidden(path.child('items'), 'items must be a schema object and not an array');
  }
  if (place.insideMetadata && schema['x-kubernetes-embedded-resource']) {
    report.forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta');
  }
}

function validateTypeFor(report: Report, path: Path, schema: JSONSchemaProps, wanted: string, extension: string): void {
  const { type } = schema;
  const detail = `must be ${wanted} if ${extension} is specified`;
  if (!type) report.required(path.child('type'), detail);
  else report.invalid(path.child('type'), type, detail);
}

function validateSetItems(report: Report, path: Path, { items }: JSONSchemaProps): void {
  if (!isObject(items)) return;
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const list = items['x-kubernetes-list-type'];
  if (items.type === 'array' && list !== undefined && list !== 'atomic') {
    report.invalid(path.child('items', 'x-kubernetes-list-type'), list, detail);
  }
  // Upstream prints the list type here too.
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    report.invalid(path.child('items', 'x-kubernetes-map-type'), list ?? null, detail);
  }
}

function validateMapList(report: Report, path: Path, schema: JSONSchemaProps): void {
  const keysPath = path.child('x-kubernetes-list-map-keys');
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const { items } = schema;
  if (keys.length === 0) report.required(keysPath, 'must not be empty if x-kubernetes-list-type is map');
  if (items === undefined) return report.required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map');
  if (!isObject(items))
    return report.invalid(
      path.child('items'),
      printedItems(items),
      'must only have a single schema if x-kubernetes-list-type is map',
    );
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return report.invalid(path.child('items', 'type'), items.type ?? '', detail);
  }
  const isRepeat = repeats();
  keys.forEach((key) => {
    const property = own(items.properties ?? {}, key);
    if (!property) report.invalid(keysPath, keys, 'entries must all be names of item properties');
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      report.invalid(path.child('items', 'properties').key(key).child('type'), items.type, detail);
    }
    if (isRepeat(key)) report.invalid(keysPath, keys, 'must not contain duplicate entries');
  });
}

/** Keys have to be there, and lists with keys hold no nulls. */
function validateListKeys(report: Report, path: Path, schema: JSONSchemaProps): void {
  const listType = schema['x-kubernetes-list-type'];
  const { items } = schema;
  if (!isObject(items) || (listType !== 'set' && listType !== 'map')) return;
  const itemsPath = path.child('items');
  if (items.nullable)
    report.forbidden(itemsPath.child('nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`);
  if (listType !== 'map') return;
  const required = new Set(items.required);
  const which = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = own(items.properties ?? {}, key);
    if (!property) continue;
    const at = itemsPath.child('properties').key(key);
    const known = required.has(key) || property.default !== undefined;
    if (!known) report.required(at.child('default'), `${which} must have a default or be a required property`);
    if (property.nullable) report.forbidden(at.child('nullable'), `${which} cannot be nullable`);
  }
}

function validateCollections(report: Report, path: Path, schema: JSONSchemaProps): void {
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  if (preserve === false) report.invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined');
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType !== undefined && schema.type !== 'object') validateTypeFor(report, path, schema, 'object', 'x-kubernetes-map-type');
  report.knownIfSet(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']);
  const listType = schema['x-kubernetes-list-type'];
  const listPath = path.child('x-kubernetes-list-type');
  if (listType !== undefined && schema.type !== 'array') validateTypeFor(report, path, schema, 'array', 'x-kubernetes-list-type');
  else if (listType === 'set') validateSetItems(report, path, schema);
  report.knownIfSet(listPath, listType, ['atomic', 'set', 'map']);
  if (!isEmpty(schema['x-kubernetes-list-map-keys'])) {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    if (listType === undefined) report.required(listPath, detail);
    else if (listType !== 'map') report.invalid(listPath, listType, detail);
  }
  if (listType === 'map') validateMapList(report, path, schema);
  validateListKeys(report, path, schema);
}

const hasNewline = (text: string): boolean => /[\n\r]/.test(text);

function validateRule(report: Report, path: Path, schema: JSONSchemaProps, rule: ValidationRule): void {
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  const text = rule.rule ?? '';
  const saysNothing = message.trim() === '';
  if (text.trim() === '') report.required(path.child('rule'), 'rule is not specified');
  else if (message !== '' && saysNothing) report.invalid(path.child('message'), message, 'must be non-empty if specified');
  else if (hasNewline(message.trim())) report.invalid(path.child('message'), message, 'must not contain line breaks');
  else if (hasNewline(text.trim()) && saysNothing) {
    report.required(path.child('message'), 'message must be specified if rule contains line breaks');
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    report.required(path.child('messageExpression'), 'messageExpression must be non-empty if specified');
  }
  report.knownIfSet(path.child('reason'), reason, reasons);
  const at = path.child('fieldPath');
  if (fieldPath === '') return;
  if (fieldPath.trim() === '') report.invalid(at, fieldPath, 'must be non-empty if specified');
  if (hasNewline(fieldPath)) report.invalid(at, fieldPath, 'must not contain line breaks');
  if (typeof resolveFieldPath(fieldPath, schema) === 'string') report.invalid(at, fieldPath, 'must be a valid path');
}

const metaFields = ['metadata', 'kind', 'apiVersion'];

function validateInner(report: Report, path: Path, schema: JSONSchemaProps, place: Place, isRoot: boolean): void {
  const { additionalProperties: additional, properties = {}, items } = schema;
  if (additional !== undefined) {
    const at = path.child('additionalProperties');
    if (!isEmptyMap(properties) && additional !== true) {
      report.forbidden(at, 'additionalProperties and properties are mutual exclusive');
    }
    const inner = place.insideMetadata
      ? { ...place, noDefaults: 'inside additionalProperties applying to object metadata' }
      : place;
    if (isObject(additional)) validateSchema(report, at, additional, inner);
  }
  for (const name of Object.keys(properties).sort()) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource']) && metaFields.includes(name);
    const inner = isMeta ? { ...place, insideMetadata: true, ...(isRoot && { noDefaults: `in top-level ${name}` }) } : place;
    const property = properties[name];
    if (property) validateSchema(report, path.child('properties').key(name), property, inner);
  }
  if (schema.not) validateSchema(report, path.child('not'), schema.not, place);
  for (const field of ['allOf', 'oneOf', 'anyOf'] as const)
    schema[field]?.forEach((one, index) => validateSchema(report, path.child(field).index(index), one, place));
  for (const [name, one] of Object.entries(schema.definitions ?? {}))
    validateSchema(report, path.child('definitions').key(name), one, place);
  if (isObject(items)) validateSchema(report, path.child('items'), items, place);
  else items?.forEach((one, index) => validateSchema(report, path.child('items').index(index), one, place));
}

/** Everything but the structure, the values of defaults and the meaning of rules. */
export function validateSchema(report: Report, path: Path, schema: JSONSchemaProps, place: Place = {}, isRoot = false): void {
  validateKeywords(report, path, schema, place);
  if (schema.uniqueItems) {
    report.forbidden(
      path.child('uniqueItems'),
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    );
  }
  validateInner(report, path, schema, place, isRoot);
  validateCollections(report, path, schema);
  schema['x-kubernetes-validations']?.forEach((rule, index) =>
    validateRule(report, path.child('x-kubernetes-validations').index(index), schema, rule),
  );
}
