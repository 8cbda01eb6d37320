import { describe, expect, it } from 'vitest';
import * as field from './index.ts';

const path = field.root('spec').child('containers').index(0);

describe('Path', () => {
  it.each([
    [field.root('spec', 'template', 'spec'), 'spec.template.spec'],
    [path.child('env').key('A').child('value'), 'spec.containers[0].env[A].value'],
    [field.root(''), '[]'],
    [field.root('data').key(''), 'data[]'],
  ])('renders %s', (one, text) => {
    expect(one.toString()).toBe(text);
  });
});

describe('errorBody', () => {
  it.each([
    [field.required(path), 'Required value'],
    [field.required(path, 'is needed'), 'Required value: is needed'],
    [field.invalid(path, 'a"b', 'must be x'), 'Invalid value: "a\\"b": must be x'],
    [field.invalid(path, -1, 'must be x'), 'Invalid value: -1: must be x'],
    [field.invalid(path, 1e20, 'must be x'), 'Invalid value: 1e+20: must be x'],
    [field.invalid(path, null, 'must be x'), 'Invalid value: null: must be x'],
    [field.invalid(path, { a: '<b>' }, 'must be x'), 'Invalid value: {"a":"\\u003cb\\u003e"}: must be x'],
    [field.invalid(path, undefined, 'must be x'), 'Invalid value: must be x'],
    [field.notSupported(path, 'x', ['a', 'b']), 'Unsupported value: "x": supported values: "a", "b"'],
    [field.forbidden(path, 'never'), 'Forbidden: never'],
    [field.duplicate(path, 'x'), 'Duplicate value: "x"'],
    [field.notFound(path, 'x'), 'Not found: "x"'],
    [field.tooLong(path, 1), 'Too long: may not be more than 1 byte'],
    [field.tooLong(path, 63), 'Too long: may not be more than 63 bytes'],
    [field.tooLongCharacters(path, 5), 'Too long: may not be more than 5 characters'],
    [field.tooShort(path, 1), 'Too short: must be at least 1 character'],
    [field.tooMany(path, 3, 2), 'Too many: 3: must have at most 2 items'],
    [field.tooMany(path, -1, 2), 'Too many: must have at most 2 items'],
    [field.tooFew(path, 0, 1), 'Too few: 0: must have at least 1 item'],
    [field.internal(path, 'broken'), 'Internal error: broken'],
    [field.typeInvalid(path, true, 'must be a string'), 'Invalid value: true: must be a string'],
  ])('%#: %s', (error, text) => {
    expect(field.errorBody(error)).toBe(text);
    expect(field.errorText(error)).toBe(`spec.containers[0]: ${text}`);
  });
});

it('aggregates distinct failures', () => {
  const a = field.required(field.root('a'));
  const b = field.required(field.root('b'));
  expect(field.aggregate([])).toBe('');
  expect(field.aggregate([a, a])).toBe('a: Required value');
  expect(field.aggregate([a, b, a])).toBe('[a: Required value, b: Required value]');
});
