// Values, lists, embedded objects and rules of custom resources, with the texts of upstream's apiserver.
import { describe, expect, it, test } from 'vitest';
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import { errorText, required, root } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';
import { DecodeError } from '#apimachinery/schema';
import { deepCopy } from '#utils';
import {
  applyDefaults,
  coerceEmbedded,
  dropNulls,
  prune,
  rulesOf,
  runRules,
  validateEmbedded,
  validateLists,
  validateResource,
  validateResourceStatus,
  validateValue,
} from './index.ts';

const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
const spec = (schema: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { spec: schema } });

describe('validateValue', () => {
  it.each<[string, JSONSchemaProps, unknown, string[]]>([
    ['good', { type: 'integer', minimum: 1 }, 1, []],
    ['type', { type: 'integer' }, 'a', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
    ['null', { type: 'integer' }, null, ['spec: Invalid value: "null": spec in body must be of type integer: "null"']],
    ['nullable', { type: 'integer', nullable: true }, null, []],
    [
      'fraction',
      { type: 'integer', format: 'int64' },
      1.5,
      [
        'spec: Invalid value: "float64": spec in body must be of type int64: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec',
      ],
    ],
    ['factor', { type: 'number', multipleOf: 0.5 }, 1.5, []],
    [
      'no multiple',
      { type: 'number', multipleOf: 0.5 },
      0.7,
      ['spec: Invalid value: 0.7: spec in body should be a multiple of 0.5'],
    ],
    // Whole numbers are divided by the whole part of the factor.
    [
      'no factor',
      { type: 'number', multipleOf: 0.5 },
      1,
      ['spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0'],
    ],
    ['leading zeros', { type: 'string', format: 'ipv4' }, '01.2.3.4', []],
    ['no bytes', { type: 'string', format: 'byte' }, '', ['spec: Invalid value: "": spec in body must be of type byte: ""']],
    ['maximum', { type: 'integer', maximum: 3 }, 5, ['spec: Invalid value: 5: spec in body should be less than or equal to 3']],
    [
      'exclusive',
      { type: 'number', minimum: 3, exclusiveMinimum: true },
      3,
      ['spec: Invalid value: 3: spec in body should be greater than 3'],
    ],
    ['multiple', { type: 'integer', multipleOf: 4 }, 6, ['spec: Invalid value: 6: spec in body should be a multiple of 4']],
    [
      'fraction',
      { type: 'integer' },
      1.5,
      [
        'spec: Invalid value: "number": spec in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
      ],
    ],
    ['long', { type: 'string', maxLength: 2 }, 'abc', ['spec: Too long: may not be more than 2 bytes']],
    ['pattern', { type: 'string', pattern: '^a$' }, 'b', ['spec: Invalid value: "b": spec in body should match \'^a$\'']],
    ['flags inside of a pattern', { type: 'string', pattern: '^((?i)sun|mon)day$' }, 'SUNday', []],
    ['RE2 only', { type: 'string', pattern: '\\A\\Qa.\\E[[:alpha:]]\\pN(?P<n>\\x{41})\\z' }, 'a.b1A', []],
    [
      'format',
      { type: 'string', format: 'ipv4' },
      '1.2.3',
      ['spec: Invalid value: "1.2.3": spec in body must be of type ipv4: "1.2.3"'],
    ],
    ['unknown format', { type: 'string', format: 'colour' }, 'x', []],
    ['enum', { type: 'string', enum: ['a', 'b'] }, 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
    [
      'items',
      { type: 'array', maxItems: 1, items: { type: 'string' } },
      ['a', 'b'],
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    ['required', { type: 'object', required: ['a'] }, {}, ['spec.a: Required value']],
    [
      'entries',
      { type: 'object', additionalProperties: { type: 'string' } },
      { x: 1 },
      ['spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"'],
    ],
    [
      'one of none',
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      {},
      [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        'spec.a: Required value',
      ],
    ],
    [
      'one of both',
      { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
      { a: 1, b: 1 },
      ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'not',
      { type: 'string', not: { enum: ['a'] } },
      'a',
      ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
    ],
  ])('%s', (_, schema, value, wanted) => {
    expect(validateValue(spec(schema), { spec: value }).map(errorText)).toEqual(wanted);
  });

  it('forgives what was wrong before, but not what changed', () => {
    const schema = spec({ type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } });
    const old = { value: { spec: { a: 'x', b: 1 } } };
    expect(validateValue(schema, { spec: { a: 'x', b: 2 } }, '', old)).toEqual([]);
    expect(validateValue(schema, { spec: { a: 'y', b: 1 } }, '', old)).toHaveLength(1);
  });

  it('refuses an object whose patterns take too much work', () => {
    const schema = spec({ type: 'array', items: { type: 'string', pattern: '(?:a|b)*a(?:a|b){900}$' } });
    const texts = Array.from({ length: 50 }, (_, index) => 'ab'.repeat(2000).slice(index));
    expect(validateValue(schema, { spec: texts }).map(errorText)).toEqual([
      '<nil>: Forbidden: the patterns of its schema take more work than one object may cause',
    ]);
  });

  it('checks a megabyte of text against an ordinary pattern', () => {
    const schema = spec({ type: 'string', pattern: '^([a-z]+)+$' });
    expect(validateValue(schema, { spec: 'a'.repeat(1_000_000) })).toEqual([]);
    expect(validateValue(schema, { spec: `${'a'.repeat(1_000_000)}!` })).toHaveLength(1);
  });
});

describe('lists and embedded objects', () => {
  it('finds what a set or a list with keys has twice', () => {
    const set: JSONSchemaProps = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
    const map: JSONSchemaProps = {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    };
    expect(validateLists(spec(set), { spec: ['a', 'b', 'a', 'a'] }).map(errorText)).toEqual(['spec[2]: Duplicate value: "a"']);
    expect(validateLists(spec(map), { spec: [{ k: 'a' }, { k: 'a', v: 1 }] }).map(errorText)).toEqual([
      'spec[1]: Duplicate value: {"k":"a"}',
    ]);
  });

  it('wants a kind of embedded objects', () => {
    const schema = spec({ type: 'object', 'x-kubernetes-embedded-resource': true });
    expect(validateEmbedded(schema, { spec: { apiVersion: 'v1' } }).map(errorText)).toEqual(['spec.kind: Required value']);
    expect(validateEmbedded(schema, { spec: { apiVersion: 'v1', kind: 'a_b' } })).toHaveLength(1);
    expect(validateEmbedded(schema, { spec: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } })).toEqual([]);
  });

  it('drops nulls that are not allowed and have no default, wherever a schema says what is there', () => {
    const text: JSONSchemaProps = { type: 'string' };
    const schema = spec({
      type: 'object',
      properties: {
        plain: text,
        either: { 'x-kubernetes-int-or-string': true },
        nullable: { ...text, nullable: true },
        filled: { ...text, default: 'x' },
        map: { type: 'object', additionalProperties: text },
        list: { type: 'array', items: { type: 'object', properties: { a: text } } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    });
    const fields = {
      plain: null,
      either: null,
      nullable: null,
      filled: null,
      map: { k: null },
      list: [{ a: null }],
      free: { a: null },
    };
    const value = { spec: fields };
    dropNulls(schema, value);
    expect(value.spec).toEqual({ nullable: null, filled: null, map: {}, list: [{}], free: { a: null } });
    applyDefaults(schema, value);
    expect(value.spec.filled).toBe('x');
  });

  it('prunes and fills', () => {
    const schema = spec({ type: 'object', properties: { a: { type: 'integer', default: 3 } } });
    const value = { apiVersion: 'v1', kind: 'A', metadata: {}, spec: { b: 1 }, more: 1 };
    const copy = deepCopy(value);
    expect(prune(schema, copy, true)).toEqual(['spec.b', 'more']);
    applyDefaults(schema, copy);
    expect(copy).toEqual({ apiVersion: 'v1', kind: 'A', metadata: {}, spec: { a: 3 } });
  });
});

describe('rules', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          min: { type: 'integer' },
          max: { type: 'integer' },
          fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] },
          list: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.startsWith('x')" }] } },
        },
        'x-kubernetes-validations': [
          {
            rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
            messageExpression: "'min over %d'.format([self.max])",
          },
          { rule: '!has(self.min) || self.min < 100', message: 'huge', fieldPath: '.min', reason: 'FieldValueForbidden' },
        ],
      },
    },
  };
  const find = (value: unknown, old?: unknown): string[] => {
    const rules = rulesOf(schema, true);
    if (!rules) return ['no rules'];
    const { errors, warnings } = runRules(rules, value, old === undefined ? {} : { old, forgives: true });
    return [...errors.map(errorText), ...warnings.map((text) => `warning: ${text}`)];
  };

  it.each<[string, unknown, unknown, string[]]>([
    ['good', { spec: { min: 1, max: 2 } }, undefined, []],
    ['own message', { spec: { min: 3, max: 2 } }, undefined, ['spec: Invalid value: min over 2']],
    ['path and reason', { spec: { min: 100 } }, undefined, ['spec.min: Forbidden: huge']],
    [
      'item',
      { spec: { list: ['x', 'y'] } },
      undefined,
      ['spec.list[1]: Invalid value: "y": failed rule: self.startsWith(\'x\')'],
    ],
    ['change', { spec: { fixed: 'b' } }, { spec: { fixed: 'a' } }, ['spec.fixed: Invalid value: "b": is immutable']],
    ['set anew', { spec: { fixed: 'b' } }, { spec: {} }, []],
    ['wrong before', { spec: { min: 100 }, x: 1 }, { spec: { min: 100 } }, ['warning: spec.min: Forbidden: huge']],
  ])('%s', (_, value, old, wanted) => {
    expect(find(value, old)).toEqual(wanted);
  });

  it('are not looked at where values are of wrong types', () => {
    const subject = { kind: 'A', apiVersion: 'g/v1', schema };
    const object = { kind: 'A', apiVersion: 'g/v1', metadata: { name: 'a' }, spec: { min: 'a' } } as KubeObject;
    expect(validateResource(subject, object).errors.map(errorText)).toEqual([
      'spec.min: Invalid value: "string": spec.min in body must be of type integer: "string"',
      unchecked,
    ]);
  });

  it('are not looked at where the metadata is wrong', () => {
    const subject = { kind: 'A', apiVersion: 'g/v1', schema };
    const object = { kind: 'A', apiVersion: 'g/v1', metadata: {}, spec: { min: 100 } } as KubeObject;
    const metadataErrors = [required(root('metadata').child('name'), 'name or generateName is required')];
    expect(validateResource(subject, object, { metadataErrors }).errors.map(errorText)).toEqual([unchecked]);
    expect(validateResource(subject, object).errors.map(errorText)).not.toContain(unchecked);
  });
});

test('the selector of a scale is a text, in the object and in its status', () => {
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  const subject = { kind: 'A', apiVersion: 'g/v1', schema: {}, scale };
  const object = { kind: 'A', apiVersion: 'g/v1', metadata: { name: 'a' }, status: { selector: {} } } as KubeObject;
  const wanted =
    '.status.selector: Invalid value: "": .status.selector accessor error: map[] is of the type map[string]interface {}, expected string';
  expect(validateResource(subject, object).errors.map(errorText)).toEqual([wanted]);
  expect(validateResourceStatus(subject, object, { old: object }).errors.map(errorText)).toEqual([wanted]);
});

test.each([
  [2 ** 63, 'spec.min: Invalid value: "number": spec.min in body must be of type integer: "number"'],
  [2 ** 63 - 1024, undefined],
])('%d is whole where 64 bits hold it', (min, problem) => {
  const of = { type: 'object', properties: { spec: { type: 'object', properties: { min: { type: 'integer' } } } } };
  expect(validateValue(of, { spec: { min } }).map(errorText)[0]).toBe(problem);
});

describe('objects inside objects', () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true };
  const of = {
    type: 'object',
    properties: { list: { type: 'array', items: embedded }, map: { additionalProperties: embedded } },
  };
  const read = (metadata: unknown) => {
    if (Array.isArray(metadata)) throw new DecodeError('json: cannot unmarshal array into Go value of type v1.ObjectMeta');
    const { x, ...object } = (metadata ?? {}) as Record<string, unknown>;
    return { object, strictErrors: x === undefined ? [] : ['unknown field "x"'] };
  };

  it('have metadata that are read as their type', () => {
    const value = { list: [{ metadata: { name: 'a', x: 1 } }, { metadata: null }], map: { k: { metadata: { x: 1 } } } };
    expect(coerceEmbedded(of, value, read)).toEqual(['list[0].metadata.x', 'map[k].metadata.x']);
    expect(value).toEqual({ list: [{ metadata: { name: 'a' } }, { metadata: {} }], map: { k: { metadata: {} } } });
  });

  it.each([
    [{ metadata: [] }, 'list[0].metadata: Invalid value: []: json: cannot unmarshal array into Go value of type v1.ObjectMeta'],
    [{ kind: 1 }, 'list[0].kind: Invalid value: 1: must be a string'],
  ])('that are none are refused: %j', (one, why) => {
    expect(() => coerceEmbedded(of, { list: [one] }, read)).toThrow(why);
  });
});
