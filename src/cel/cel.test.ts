// Expressions and their values, as the language definition and the Kubernetes libraries say
// (https://github.com/google/cel-spec/blob/master/doc/langdef.md, https://kubernetes.io/docs/reference/using-api/cel/).
import { describe, expect, it } from 'vitest';
import {
  AdmissionCompiler,
  CelError,
  celTypes,
  compile,
  CostError,
  deviceSelectorProblem,
  environmentOf,
  escapeName,
  fromJson,
  isProgram,
  type SchemaShape,
  schemaType,
  toJson,
  unescapeName,
} from './index.ts';

function evaluate(source: string, self: unknown = null, schema?: SchemaShape, costMax?: number): unknown {
  const type = (schema && schemaType(schema, 'object')) ?? celTypes.dyn;
  const program = compile(source, environmentOf([['self', type]]));
  if (!isProgram(program)) throw new Error(program.problem);
  return toJson(program.evaluate(new Map([['self', fromJson(self, type)]]), costMax === undefined ? {} : { costMax }));
}

it.each(['constructor', '__proto__', 'toString', 'valueOf'])('%s is no number, and no truth', (text) => {
  for (const type of ['double', 'int', 'uint', 'bool', 'duration', 'timestamp', 'quantity', 'semver', 'ip', 'cidr', 'url']) {
    expect(() => evaluate(`${type}(${JSON.stringify(text)})`), type).toThrow();
  }
  expect(evaluate(`format.named(${JSON.stringify(text)}).hasValue()`)).toBe(false);
});

describe('values', () => {
  it.each<[string, unknown]>([
    ['has(dyn(null).a)', false],
    ['has(dyn(1).a)', false],
    ['1 + 2 * 3 == 7', true],
    ['7 / 2', 3],
    ['-7 / 2', -3],
    ['-7 % 2', -1],
    ['1.5 + 2.0', 3.5],
    ['dyn(1) == 1.0', true],
    ['1u < 2', true],
    ["'a' + 'b'", 'ab'],
    ['"\\u00e9" == r"é"', true],
    ["b'abc' == bytes('abc')", true],
    ["size('añb')", 3],
    ['[1, 2] + [3] == [1, 2, 3]', true],
    ["{'a': 1}['a']", 1],
    ["'a' in {'a': 1}", true],
    ['3 in [1, 2]', false],
    ['true ? 1 : 2', 1],
    // The logical operators do not fail where one side decides.
    ['1 / 0 > 1 || true', true],
    ['false && 1 / 0 > 1', false],
    ['[1, 2, 3].all(x, x > 0)', true],
    ['[1, 2, 3].exists(x, x > 2)', true],
    ['[1, 2, 2].exists_one(x, x == 2)', false],
    ['[1, 2, 3].map(x, x * 2)', [2, 4, 6]],
    ['[1, 2, 3].map(x, x > 1, x * 2)', [4, 6]],
    ['[1, 2, 3].filter(x, x > 1)', [2, 3]],
    ["['ccc', 'a', 'bb', 'd'].sortBy(x, size(x))", ['a', 'd', 'bb', 'ccc']],
    ['[[3, 1], [2]].map(l, l.sortBy(x, -x))', [[3, 1], [2]]],
    ['[].sortBy(x, x)', []],
    ["{'a': 1, 'b': 2}.all(k, k != 'c')", true],
    ["timestamp('2024-01-02T03:04:05Z').getFullYear()", 2024],
    ["timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')", true],
    ["duration('90s').getMinutes()", 1],
    ["int('12') + int(3.9)", 15],
    ['string(1.0)', '1'],
    ["type(1) == int && type('a') == string", true],
    ["'hello'.matches('^h.*o$')", true],
    ["'a,b'.split(',')", ['a', 'b']],
    ["['a', 'b'].join('-')", 'a-b'],
    ["'abc'.substring(1, 2)", 'b'],
    ["' x '.trim()", 'x'],
    ["'abcabc'.replace('b', 'x', 1)", 'axcabc'],
    ["'Straße'.lowerAscii()", 'straße'],
    ["'n: %d, %s'.format([5, dyn('a')])", 'n: 5, a'],
    ['[3, 1, 2].isSorted()', false],
    ['[1, 2, 3].sum()', 6],
    ['[1, 5, 3].max()', 5],
    ["'ab12cd34'.findAll('[0-9]+')", ['12', '34']],
    ["url('https://a.example:80/p?x=1').getHost()", 'a.example:80'],
    ["ip('192.168.0.1').family()", 4],
    ["cidr('10.0.0.0/8').containsIP('10.1.2.3')", true],
    ["quantity('1Gi').isGreaterThan(quantity('1000M'))", true],
    ["quantity('200M').compareTo(quantity('0.2G'))", 0],
    ["semver('1.2.3').isLessThan(semver('1.10.0'))", true],
    ["format.named('dns1123Label').value().validate('Not_Good').hasValue()", true],
    ['optional.none().orValue(3)', 3],
    ["{'a': 1}[?'b'].orValue(2)", 2],
    ["{'a': {'b': 1}}.?a.?b.value()", 1],
    ['sets.contains([1, 2], [1])', true],
  ])('%s', (source, wanted) => {
    expect(evaluate(source)).toEqual(wanted);
  });

  it.each<[string, string]>([
    ['1 / 0', 'division by zero'],
    ['1 % 0', 'modulus by zero'],
    ["{'a': 1}['b']", 'no such key: b'],
    ['dyn(null).a == 1', 'no such key: a'],
    ["dyn('a').x == 1", 'no such key: x'],
    ["dyn(null)['a'] == 1", 'no such key: a'],
    ['dyn([1]).x == 1', "unsupported index type 'string' in list"],
    ['has(dyn([1]).x)', "unsupported index type 'string' in list"],
    ['has(dyn(null).a.b)', 'no such key: a'],
    ['[1][3]', 'index out of bounds: 3'],
    ['9223372036854775807 + 1', 'integer overflow'],
  ])('%s fails', (source, message) => {
    expect(() => evaluate(source)).toThrow(CelError);
    expect(() => evaluate(source)).toThrow(message);
  });

  it('stops what costs too much', () => {
    const self = Array.from({ length: 100 }, (_, at) => at);
    expect(() => evaluate('self.all(x, self.all(y, self.all(z, x + y + z >= 0)))', self, undefined, 1000)).toThrow(CostError);
  });
});

describe('checking', () => {
  const schema: SchemaShape = {
    type: 'object',
    properties: {
      min: { type: 'integer' },
      name: { type: 'string' },
      list: { type: 'array', items: { type: 'string' } },
      'a-b': { type: 'boolean' },
      any: { 'x-kubernetes-int-or-string': true },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      when: { type: 'string', format: 'date-time' },
    },
  };

  it.each<[string, unknown, unknown]>([
    ['self.min < 10', { min: 3 }, true],
    ['has(self.name)', {}, false],
    ['self.a__dash__b', { 'a-b': true }, true],
    ["self.list.all(x, x.startsWith('a'))", { list: ['ab', 'b'] }, false],
    ["type(self.any) == int ? self.any < 5 : self.any == '80%'", { any: '80%' }, true],
    ["self.labels['x'] == 'y'", { labels: { x: 'y' } }, true],
    ["self.when > timestamp('2020-01-01T00:00:00Z')", { when: '2021-01-01T00:00:00Z' }, true],
  ])('%s of %o', (source, self, wanted) => {
    expect(evaluate(source, self, schema)).toBe(wanted);
  });

  it.each<[string, string]>([
    ['self.nope', "undefined field 'nope'"],
    ["self.min + 'a'", "found no matching overload for '_+_' applied to '(int, string)'"],
    ['other', "undeclared reference to 'other' (in container '')"],
    ['1 == 1.0', "found no matching overload for '_==_' applied to '(int, double)'"],
    ["[1, 'a']", "expected type 'int' but found 'string'"],
    ['self.min <', 'Syntax error'],
    ['self.all(', "expecting {'[', '{', '(', ')', '.', "],
    ['size(1, ', "expecting {'[', '{', '(', '.', "],
    ['self.list.map(x)', 'undeclared reference to'],
    ['has(self.nope)', 'ERROR: <input>:1:4: undefined field'],
    ["'a\\q' == self", "ERROR: <input>:1:1: Syntax error: token recognition error at: ''a\\q'\n"],
    ["'a\\q' == self", "ERROR: <input>:1:5: Syntax error: token recognition error at: '' == self'\n"],
    ["'\\x4z'", "token recognition error at: ''\\x4z'\n"],
    ["b'\\q'", "ERROR: <input>:1:2: Syntax error: token recognition error at: ''\\q'\n"],
    ["'''\\q'''", "ERROR: <input>:1:3: Syntax error: token recognition error at: ''\\q'\n"],
  ])('%s is refused', (source, problem) => {
    expect(() => evaluate(source, {}, schema)).toThrow(problem);
  });

  it('names the place of a mistake', () => {
    expect(() => evaluate('self.nope', {}, schema)).toThrow(
      "compilation failed: ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^",
    );
  });

  it('knows which variables an expression uses', () => {
    const program = compile(
      'self.x',
      environmentOf([
        ['self', celTypes.dyn],
        ['oldSelf', celTypes.dyn],
      ]),
    );
    expect(isProgram(program) && program.uses('oldSelf')).toBe(false);
    expect(isProgram(program) && program.uses('self')).toBe(true);
  });

  it.each<[string, string | undefined]>([
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['namespace', '__namespace__'],
    ['a__b', 'a__underscores__b'],
    ['9a', undefined],
  ])('escapes %s', (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
    if (escaped !== undefined) expect(unescapeName(escaped)).toBe(name);
  });
});

describe('Kubernetes environments', () => {
  it('has what admission sees', () => {
    const compiler = new AdmissionCompiler({ hasVariables: true });
    const problem = (source: string): string | undefined =>
      compiler.problemOf(source, { hasParams: false, hasAuthorizer: false, returns: ['bool'] });
    expect(problem("object.metadata.name == 'a' && request.operation == 'CREATE'")).toBeUndefined();
    expect(problem("'a'")).toBe('must evaluate to bool but got string');
    expect(problem('params.x == 1')).toContain("undeclared reference to 'params'");
  });

  it('has devices', () => {
    expect(deviceSelectorProblem("device.driver == 'gpu.example.com'")).toBeUndefined();
    expect(deviceSelectorProblem('device.driver')).toBeDefined();
  });
});
