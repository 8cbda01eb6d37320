// A value against its schema, with the texts of upstream's validator (k8s.io/kube-openapi/pkg/validation, apiextensions-apiserver schema/validation).
import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type Path,
  root,
} from '#apimachinery/field';
import { deepEqual } from '../registry/generic/values.ts';
import { isObject, type JsonSchema } from './json-schema.ts';

/** Where a value is; undefined at the top. */
type At = Path | undefined;

const child = (at: At, key: string): Path => (at ? at.child(key) : root(key));
const textOf = (at: At): string => at?.toString() ?? '';
/** The top has no path; upstream prints it as <nil>. */
const top = root('<nil>');
const at = (path: At): Path => path ?? top;

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

const fits = (type: string, actual: string): boolean => type === actual || (type === 'number' && actual === 'integer');

export function validateValue(schema: JsonSchema, value: unknown, path: At = undefined): FieldError[] {
  if (value === null && schema.nullable === true) return [];
  const wrongType = typeError(schema, value, path);
  if (wrongType) return [wrongType];
  const errors: FieldError[] = [];
  if (schema.enum && !schema.enum.some((option) => deepEqual(option, value))) {
    errors.push(
      notSupported(
        at(path),
        value,
        schema.enum.map((option) => (typeof option === 'string' ? option : JSON.stringify(option))),
      ),
    );
  }
  if (typeof value === 'number') errors.push(...numberErrors(schema, value, path));
  if (typeof value === 'string') errors.push(...stringErrors(schema, value, path));
  if (Array.isArray(value)) errors.push(...arrayErrors(schema, value, path));
  else if (isObject(value)) errors.push(...objectErrors(schema, value, path));
  return [...errors, ...combinedErrors(schema, value, path)];
}

function typeError(schema: JsonSchema, value: unknown, path: At): FieldError | undefined {
  const actual = typeOf(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    return actual === 'integer' || actual === 'string'
      ? undefined
      : typeInvalid(
          at(path),
          goType(value),
          `${textOf(path)} in body must be of type integer,string: ${JSON.stringify(goType(value))}`,
        );
  }
  if (schema.type === undefined || fits(schema.type, actual)) return undefined;
  return typeInvalid(
    at(path),
    goType(value),
    `${textOf(path)} in body must be of type ${schema.type}: ${JSON.stringify(goType(value))}`,
  );
}

const goType = (value: unknown): string => (typeOf(value) === 'integer' ? 'integer' : typeOf(value));

function numberErrors(schema: JsonSchema, value: number, path: At): FieldError[] {
  const errors: FieldError[] = [];
  const say = (text: string): void => void errors.push(invalid(at(path), value, `${textOf(path)} in body should be ${text}`));
  const { minimum, maximum, multipleOf } = schema;
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum))
    say(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum))
    say(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
  if (multipleOf !== undefined && value % multipleOf !== 0) say(`a multiple of ${multipleOf}`);
  return errors;
}

function stringErrors(schema: JsonSchema, value: string, path: At): FieldError[] {
  const errors: FieldError[] = [];
  const length = [...value].length;
  const say = (text: string): void => void errors.push(invalid(at(path), value, `${textOf(path)} in body should ${text}`));
  if (schema.maxLength !== undefined && length > schema.maxLength) errors.push(tooLong(at(path), schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) say(`be at least ${schema.minLength} chars long`);
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value)) say(`match '${schema.pattern}'`);
  const format = schema.format === undefined ? undefined : formats[schema.format];
  if (format && !format.test(value))
    errors.push(
      typeInvalid(at(path), value, `${textOf(path)} in body must be of type ${schema.format ?? ''}: ${JSON.stringify(value)}`),
    );
  return errors;
}

const patterns = new Map<string, RegExp>();

/** A pattern we cannot compile matches everything: the definition was accepted with it. */
function patternOf(source: string): RegExp {
  let pattern = patterns.get(source);
  if (!pattern) {
    try {
      pattern = new RegExp(source, 'u');
    } catch {
      pattern = /^/;
    }
    patterns.set(source, pattern);
  }
  return pattern;
}

const formats: Record<string, RegExp | undefined> = {
  'date-time': /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  email: /^[^@\s]+@[^@\s]+$/,
};

function arrayErrors(schema: JsonSchema, value: unknown[], path: At): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    errors.push(tooMany(at(path), value.length, schema.maxItems));
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalid(at(path), value.length, `${textOf(path)} in body should have at least ${schema.minItems} items`));
  }
  const { items } = schema;
  if (items) value.forEach((item, index) => errors.push(...validateValue(items, item, at(path).index(index))));
  return errors;
}

function objectErrors(schema: JsonSchema, value: Record<string, unknown>, path: At): FieldError[] {
  const errors: FieldError[] = [];
  const size = Object.keys(value).length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties)
    errors.push(tooMany(at(path), size, schema.maxProperties));
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(invalid(at(path), size, `${textOf(path)} in body should have at least ${schema.minProperties} properties`));
  }
  for (const name of schema.required ?? []) if (value[name] === undefined) errors.push(required(child(path, name)));
  if (schema['x-kubernetes-embedded-resource'] === true) {
    for (const name of ['apiVersion', 'kind'])
      if (typeof value[name] !== 'string' || value[name] === '') errors.push(required(child(path, name)));
  }
  for (const [name, item] of Object.entries(value)) {
    const known =
      schema.properties?.[name] ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
    if (known) errors.push(...validateValue(known, item, child(path, name)));
  }
  return errors;
}

function combinedErrors(schema: JsonSchema, value: unknown, path: At): FieldError[] {
  const name = textOf(path);
  const valid = (option: JsonSchema): boolean => validateValue(option, value, path).length === 0;
  const errors = (schema.allOf ?? []).flatMap((option) => validateValue(option, value, path));
  if (schema.anyOf && schema.anyOf.length > 0 && !schema.anyOf.some(valid))
    errors.push(invalid(at(path), '', `${name} in body must validate at least one schema (anyOf)`));
  if (schema.oneOf && schema.oneOf.length > 0) {
    const count = schema.oneOf.filter(valid).length;
    if (count !== 1)
      errors.push(
        invalid(
          at(path),
          '',
          `${name} in body must validate one and only one schema (oneOf). Found ${count === 0 ? 'none' : count} valid${count === 0 ? '' : ' alternatives'}`,
        ),
      );
  }
  if (schema.not && valid(schema.not)) errors.push(invalid(at(path), '', `${name} in body must not validate the schema (not)`));
  return errors;
}
