import { expect, test } from 'vitest';
import { compile, environmentOf, isProgram } from '../program.ts';
import * as types from '../types.ts';

const problem = (expression: string, bindings = false): string | undefined => {
  const compiled = compile(expression, environmentOf([['object', types.dyn]], { bindings }));
  return isProgram(compiled) ? undefined : compiled.problem.split('\n')[0]?.replace('compilation failed: ERROR: <input>:', '');
};

test.each([
  ['true && 1', "1:9: expected type 'bool' but found 'int'"],
  ['object.a || "x"', "1:13: expected type 'bool' but found 'string'"],
  ['object.a && true', undefined],
  ['object.name.matches("(")', '1:21: invalid matches argument'],
  ['matches("a", "[")', '1:14: invalid matches argument'],
  ['[1].all(x, timestamp("y") == object.t)', '1:22: invalid timestamp argument'],
  ['duration("1x") < duration("1s")', '1:10: invalid duration argument'],
  ['duration(object.d) < duration("1s")', undefined],
  ['object.', "1:8: Syntax error: no viable alternative at input '.'"],
  ['cel.bind(x, 1, x == 1)', "1:1: undeclared reference to 'cel' (in container '')"],
])('%s', (expression, text) => {
  expect(problem(expression)).toBe(text);
});

test('of a struct that nobody knows the fields are not looked at', () => {
  const compiled = compile('Object{metadata: Object.metadata{name: x}}', environmentOf([['object', types.dyn]]));
  expect(isProgram(compiled) ? [] : compiled.problem.match(/undeclared reference/g)).toHaveLength(1);
});

test.each([
  ['null', 'must evaluate to bool but got null_type'],
  ['object.a', 'must evaluate to bool but got dyn'],
  ['object.a == 1', undefined],
])('%s where a bool is wanted', (expression, text) => {
  const compiled = compile(expression, environmentOf([['object', types.dyn]]), ['bool']);
  expect(isProgram(compiled) ? undefined : compiled.problem).toBe(text);
});

test('cel.bind is known where the environment says so', () => {
  expect(problem('cel.bind(x, 1, x == 1)', true)).toBeUndefined();
});

test.each([
  ['true ? [] : [1]', 'list(int)'],
  ['true ? [1] : []', 'list(int)'],
  ['[] + [1]', 'list(int)'],
  ['[[], [1]]', 'list(list(int))'],
  ['[]', 'list(dyn)'],
  ['true ? {} : {"a": 1}', 'map(string, int)'],
])('an empty literal takes the type of its neighbours: %s', (expression, type) => {
  const compiled = compile(expression, environmentOf([]));
  expect(isProgram(compiled) ? types.declaredText(compiled.type) : compiled.problem).toBe(type);
});
