// Values against their schemas, with the failures of upstream's validator in its order (k8s.io/kube-openapi/pkg/validation/validate;
// apiextensions-apiserver, pkg/apiserver/validation). Of combined schemas the failures of the best alternative are told: that with most
// checks passed.
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { type FieldError, type FieldErrorType, fieldErrorsMax } from '#apimachinery/field';
import { compileRegexp, RegexpError, Work, WorkError } from '#regexp';
import { deepEqual, isInt64, own } from '#utils';
import { isKnownFormat, stringFormat } from './formats.ts';
import { correlatedItem, isObject, schemaItems } from './structure.ts';

/** What a check found, and how many checks passed. */
class Result {
  readonly errors: FieldError[] = [];
  passed = 0;

  get isValid(): boolean {
    return this.errors.length === 0;
  }

  add(error: FieldError): void {
    if (this.errors.length > fieldErrorsMax) return;
    const same = ({ type, field, detail }: FieldError): boolean =>
      type === error.type && field === error.field && detail === error.detail;
    if (!this.errors.some(same)) this.errors.push(error);
  }

  fail(type: FieldErrorType, field: string, badValue: unknown, detail: string): void {
    this.add({ type, field, ...(badValue !== undefined && { badValue }), detail });
  }

  merge(other: Result): void {
    for (const error of other.errors) this.add(error);
    this.passed += other.passed;
  }
}

/** What is the same for all values of an object. */
interface Run {
  /** What patterns may still cost. */
  work: Work;
}

/** The value that a schema's value had before, where that is known. */
type Old = { value: unknown } | undefined;

/** JSON type and Go's format of a value. */
function typeOf(value: unknown): [type: string, format: string] {
  if (value === null) return ['null', ''];
  if (Array.isArray(value)) return ['array', ''];
  if (typeof value === 'number') return isInt64(value) ? ['integer', 'int64'] : ['number', 'float64'];
  return [typeof value, ''];
}

const typesOf = (schema: JSONSchemaProps): string[] =>
  schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : schema.type ? [schema.type] : [];

function checkType(result: Result, schema: JSONSchemaProps, value: unknown, path: string): void {
  const types = typesOf(schema);
  const format = schema.format && isKnownFormat(types[0] ?? '', schema.format) ? schema.format : '';
  if (types.length === 0 && format === '') return;
  const [actual, actualFormat] = typeOf(value);
  const fail = (wanted: string, got: string): void =>
    result.fail('FieldValueTypeInvalid', path, got, `${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`);
  result.passed++;
  if (value === null) {
    if (types.length > 0 && !schema.nullable) fail(types.join(','), actual);
    else result.passed++;
    return;
  }
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  const isText = actual === 'string' || actual === 'array';
  const isNumeric = types.includes('number') || types.includes('integer');
  if (!isText && format !== '' && !fits && actualFormat !== format) return fail(format, actualFormat);
  if (format !== '' && isText && !isNumeric) result.passed++;
  else if (types.length > 0 && !fits) fail(types.join(','), actual);
  else result.passed++;
}

const alternatives = (run: Run, schemas: readonly JSONSchemaProps[], value: unknown, path: string): Result[] =>
  schemas.map((schema) => check(run, schema, value, path, undefined));

/** The one with most checks passed. */
function best(results: readonly Result[]): Result | undefined {
  let found: Result | undefined;
  for (const result of results) if (!found || result.passed > found.passed) found = result;
  return found;
}

function checkCombined(run: Run, result: Result, schema: JSONSchemaProps, value: unknown, path: string): void {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const name = JSON.stringify(path);
  const fail = (text: string): void => result.fail('FieldValueInvalid', '', '', `${name} must ${text}`);
  if (anyOf.length > 0) {
    const results = alternatives(run, anyOf, value, path);
    const success = results.find(({ isValid }) => isValid);
    if (!success) fail('validate at least one schema (anyOf)');
    result.merge(success ?? best(results) ?? new Result());
  }
  if (oneOf.length > 0) {
    const results = alternatives(run, oneOf, value, path);
    const successes = results.filter(({ isValid }) => isValid);
    const found = successes.length === 0 ? 'none valid' : `${successes.length} valid alternatives`;
    if (successes.length !== 1) fail(`validate one and only one schema (oneOf). Found ${found}`);
    if (successes.length <= 1) result.merge(successes[0] ?? best(results) ?? new Result());
  }
  if (allOf.length > 0) {
    const results = alternatives(run, allOf, value, path);
    for (const one of results) result.merge(one);
    const valid = results.filter(({ isValid }) => isValid).length;
    if (valid < results.length) fail(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  }
  if (not && check(run, not, value, path, undefined).isValid) fail('not validate the schema (not)');
  result.passed += 2;
}

/** Nothing matches what is no pattern. Throws `WorkError`. */
function matchesPattern(pattern: string, value: string, work: Work): boolean {
  try {
    return compileRegexp(pattern, work).test(value, work);
  } catch (error) {
    if (error instanceof RegexpError) return false;
    throw error;
  }
}

function checkString({ work }: Run, result: Result, schema: JSONSchemaProps, value: string, path: string): void {
  const length = Array.from(value).length;
  const { maxLength, minLength, pattern, format } = schema;
  const fail = (text: string): void => result.fail('FieldValueInvalid', path, value, `${path} in body should ${text}`);
  if (maxLength !== undefined && length > maxLength) {
    const limit = maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} byte${maxLength === 1 ? '' : 's'}`;
    result.fail('FieldValueTooLong', path, undefined, limit);
  } else if (minLength !== undefined && length < minLength) fail(`be at least ${minLength} chars long`);
  else if (pattern && !matchesPattern(pattern, value, work)) fail(`match '${pattern}'`);
  result.passed++;
  const test = format && isKnownFormat(typesOf(schema)[0] ?? '', format) ? stringFormat(format) : undefined;
  if (!test || !format) return;
  if (test(value)) result.passed++;
  else result.fail('FieldValueTypeInvalid', path, value, `${path} in body must be of type ${format}: ${JSON.stringify(value)}`);
  result.passed++;
}

const ranges: Readonly<Record<string, number>> = { int32: 2 ** 31 - 1, float: 3.4028234663852886e38 };

/** Whether a number has the type and format; another type's numbers are not looked at. */
function isInRange(value: number, type: string, format: string): boolean {
  if (type === 'integer' && !isInt64(value)) return false;
  const max = own(ranges, format);
  return max === undefined || (value <= max && value >= (format === 'int32' ? -max - 1 : -max));
}

const largestExact = 2 ** 53 - 1;

/** A number counts as whole when it is so to within a billionth of it, and small enough to be told from its neighbours. */
function isWhole(value: number): boolean {
  if (Math.abs(value) > largestExact) return false;
  const diff = Math.abs(value - Math.trunc(value));
  return diff === 0 || diff < 1e-9 || diff / Math.abs(value) < 1e-9;
}

/** Upstream divides whole numbers by the whole part of the factor, which is no factor when it is 0. */
function checkFactor(result: Result, multipleOf: number, value: number, path: string): void {
  const whole = Number.isSafeInteger(value);
  const factor = whole ? Math.trunc(multipleOf) : multipleOf;
  const fail = (text: string, shown: unknown = value): void => result.fail('FieldValueInvalid', path, shown, text);
  if (factor <= 0) return fail(`factor MultipleOf declared for ${path} must be positive: ${factor}`, factor);
  const fits = whole ? value % factor === 0 : isWhole(factor < 1 ? (1 / factor) * value : value / factor);
  if (!fits) fail(`${path} in body should be a multiple of ${factor}`);
}

function checkNumber(result: Result, schema: JSONSchemaProps, value: number, path: string): void {
  const { multipleOf, minimum, maximum } = schema;
  const { type = '' } = schema;
  const format = schema.format && isKnownFormat(type, schema.format) ? schema.format : '';
  if (!isInRange(value, type, format)) {
    const wanted = format === '' ? '(default format)' : `with format ${format}`;
    result.fail('FieldValueInvalid', '', '', `Checked value must be of type ${type} ${wanted} in ${path}`);
  }
  const fail = (text: string): void => result.fail('FieldValueInvalid', path, value, `${path} in body should be ${text}`);
  if (multipleOf !== undefined) checkFactor(result, multipleOf, value, path);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    fail(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    fail(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  }
  result.passed += 2;
}

function tooMany(result: Result, path: string, actual: number, limit: number): void {
  const text = limit < 0 ? 'has too many items' : `must have at most ${limit} item${limit === 1 ? '' : 's'}`;
  result.fail('FieldValueTooMany', path, actual, text);
}

function checkList(run: Run, result: Result, schema: JSONSchemaProps, value: unknown[], path: string, old: Old): void {
  const items = schemaItems(schema);
  const { minItems, maxItems } = schema;
  if (items) {
    value.forEach((item, at) =>
      result.merge(check(run, items, item, `${path}[${at}]`, old && correlatedItem(schema, item, old.value))),
    );
  }
  if (minItems !== undefined && value.length < minItems) {
    result.fail('FieldValueInvalid', path, value.length, `${path} in body should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && value.length > maxItems) tooMany(result, path, value.length, maxItems);
  result.passed += 2;
}

const typeMeta = new Set(['apiVersion', 'kind', 'metadata']);

function checkObject(
  run: Run,
  result: Result,
  schema: JSONSchemaProps,
  value: Record<string, unknown>,
  path: string,
  old: Old,
): void {
  const { minProperties, maxProperties, properties = {}, additionalProperties: more, required = [] } = schema;
  const names = Object.keys(value);
  const size = names.length;
  if (minProperties !== undefined && size < minProperties) {
    result.fail('FieldValueInvalid', path, size, `${path} in body should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && size > maxProperties) tooMany(result, path, size, maxProperties);
  const before = isObject(old?.value) ? old.value : undefined;
  for (const name of names) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const known = own ?? (isObject(more) ? (more as JSONSchemaProps) : undefined);
    if (!known) continue;
    const isKept = before && Object.hasOwn(before, name) && !(path === '' && typeMeta.has(name));
    const at = path === '' ? name : `${path}.${name}`;
    result.merge(check(run, known, value[name], at, isKept ? { value: before[name] } : undefined));
  }
  for (const name of required)
    if (!Object.hasOwn(value, name)) result.fail('FieldValueRequired', path === '' ? name : `${path}.${name}`, undefined, '');
  result.passed++;
}

function checkEnum(result: Result, schema: JSONSchemaProps, value: unknown, path: string): void {
  if (schema.enum && !schema.enum.some((option) => deepEqual(option, value))) {
    const texts = schema.enum.map((option) => JSON.stringify(typeof option === 'string' ? option : JSON.stringify(option)));
    result.fail('FieldValueNotSupported', path, value, texts.length === 0 ? '' : `supported values: ${texts.join(', ')}`);
  }
  result.passed++;
}

function check(run: Run, schema: JSONSchemaProps, value: unknown, path: string, old: Old): Result {
  const result = new Result();
  checkType(result, schema, value, path);
  if (value === null) checkEnum(result, schema, value, path);
  else {
    checkCombined(run, result, schema, value, path);
    if (typeof value === 'string') checkString(run, result, schema, value, path);
    else if (typeof value === 'number') checkNumber(result, schema, value, path);
    else if (Array.isArray(value)) checkList(run, result, schema, value, path, old);
    checkEnum(result, schema, value, path);
    if (isObject(value)) checkObject(run, result, schema, value, path, old);
  }
  result.passed++;
  // What was wrong before and is unchanged may stay.
  if (!result.isValid && old && deepEqual(old.value, value)) return new Result();
  return result;
}

const tooMuchWork = 'the patterns of its schema take more work than one object may cause';

/** Failures of a value; `prefix` is where it is, '' for a whole object; `old`: failures of parts unchanged since are forgiven. */
export function validateValue(schema: JSONSchemaProps, value: unknown, prefix = '', old?: { value: unknown }): FieldError[] {
  const at = (field: string): string => (field === '' ? prefix : prefix === '' ? field : `${prefix}.${field}`) || '<nil>';
  try {
    return check({ work: new Work() }, schema, value, '', old).errors.map((error) => ({ ...error, field: at(error.field) }));
  } catch (error) {
    if (!(error instanceof WorkError)) throw error;
    return [{ type: 'FieldValueForbidden', field: at(''), detail: tooMuchWork }];
  }
}
