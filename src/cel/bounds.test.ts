// Whatever an expression does, it ends soon, and its failures are those of expressions: nothing of the host comes through.
import { describe, expect, it } from 'vitest';
import { Work } from '#regexp';
import { CelError, celTypes, compile, CostError, environmentOf, fromJson, isProgram, toJson } from './index.ts';

function run(source: string, self: unknown = null, units?: number): { result: unknown; units: number; cost: number } {
  const program = compile(source, environmentOf([['self', celTypes.dyn]], { bindings: true }));
  if (!isProgram(program)) throw new Error(program.problem);
  const work = new Work(units ?? 5_000_000);
  const { left } = work;
  let cost = 0;
  const limits = { work, onCost: (spent: number) => void (cost = spent) };
  try {
    return {
      result: toJson(program.evaluate(new Map([['self', fromJson(self, celTypes.dyn)]]), limits)),
      units: left - work.left,
      cost,
    };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { result: error, units: left - work.left, cost };
  }
}

const long = 'a'.repeat(200_000);
const pairs = '😀'.repeat(100_000);

const irregular = Array.from({ length: 100_000 }, (_, at) => 'ab'[((at * at) % 7) & 1]).join('');

describe('functions of texts are linear', () => {
  it.each<[string, unknown, unknown]>([
    ["self.indexOf('b')", long, -1],
    ["self.indexOf('aaaaaaaaaaaaaaaaaaaaab')", long, -1],
    [`self.indexOf(self.substring(0, 100000) + 'b')`, long, -1],
    [`self.lastIndexOf('b' + self.substring(0, 100000))`, long, -1],
    [`self.contains('b' + self.substring(0, 300))`, long, false],
    [`self.split('aaaaaaaaaaaaaaaaaaaab').size()`, long, 1],
    [`self.replace('aaaaaaaaaaaaaaaaaaaab', 'x').size()`, long, 200_000],
    ["self.replace('a', 'bb').size()", long, 400_000],
    ["self.split('').size()", long, 200_000],
    ['self.size()', pairs, 100_000],
    ["self.indexOf('b')", pairs, -1],
    ['self.substring(99999)', pairs, '😀'],
    ['self.charAt(99999)', pairs, '😀'],
    ['self.upperAscii().size()', `${long}é`, 200_001],
    ["self.matches('^(a+)+$')", `${long}!`, false],
    ["self.findAll('[^a]').size()", `${long}!`, 1],
    ["url('http://' + self).getHostname().size()", long, 200_000],
    ["url('http://' + self + '@b:8080').getPort()", ':'.repeat(200_000), '8080'],
    ["isURL('http://' + self)", 'a:'.repeat(100_000), false],
    ['isIP(self) || isCIDR(self) || isQuantity(self) || isSemver(self)', '1'.repeat(200_000), false],
    ["format.named('dns1123Subdomain').value().validate(self).hasValue()", long, true],
  ])('%s', (source, self, wanted) => {
    const { result, units } = run(source, self);
    expect(result).toEqual(wanted);
    expect(units).toBeLessThan(4_000_000);
  });
});

describe('what would be too much costs too much', () => {
  it.each<[string, unknown]>([
    ["self.replace('a', self)", long],
    ['[self, self].map(x, self + self).map(x, x + x).map(x, x + x).map(x, x + x + x + x + x + x + x + x + x).join(self)', long],
    ['lists.range(1000000000000)', null],
    ['lists.range(10000).map(x, self).join()', long],
    ["self.findAll('(?s)a.*b|a').size()", long],
    ["self.matches('(?:a|b)*a(?:a|b){900}$')", irregular],
    ['self.all(x, self.all(y, self.all(z, x + y + z >= 0)))', Array.from({ length: 200 }, (_, at) => at)],
    [
      'self.all(x, self.text.size() > 0)',
      { text: long, ...Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at])) },
    ],
  ])('%s', (source, self) => {
    expect(run(source, self).result).toBeInstanceOf(CostError);
  });
});

describe('failures are those of expressions', () => {
  it.each<[string, unknown, string]>([
    ["'%.1000f'.format([1.5])", null, 'error during formatting: precision 1000 is larger than 100'],
    ['timestamp(9223372036854775807)', null, 'timestamp overflow'],
    ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", null, 'timestamp overflow'],
    ["duration('2562047h') + duration('2562047h')", null, 'integer overflow'],
    ['int(self)', '9'.repeat(500), `strconv.ParseInt: parsing "${'9'.repeat(500)}": value out of range`],
    ["uint('18446744073709551616')", null, 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ['self.map(x, 9223372036854775807).sum()', [1, 2], 'integer overflow'],
    ["'abc'.charAt(4)", null, 'index out of range: 4'],
    ["'abc'.substring(2, 1)", null, 'invalid substring range. start: 2, end: 1'],
  ])('%s', (source, self, message) => {
    const { result } = run(source, self);
    expect(result).toBeInstanceOf(CelError);
    expect((result as CelError).message).toBe(message);
  });

  it('takes the depth of a value for cost', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(run('self == self ? 1 : 2', deep).result).toBe(1);
    expect(run("'%s'.format([self])", deep).result).toBeInstanceOf(CostError);
  });
});

describe('costs are upstream’s', () => {
  it.each<[string, unknown, number]>([
    ['true', null, 0],
    ['self', true, 1],
    ['self.a.b', { a: { b: 1 } }, 3],
    ['[1, 2, 3]', null, 10],
    ["{'a': 1}", null, 30],
    ["'abc' + 'def'", null, 1],
    ["self.matches('a{20}')", 'a'.repeat(99), 1 + 10 * 2],
    ['self.lowerAscii()', 'a'.repeat(95), 11],
    ["self.split('')", 'a'.repeat(95), 20],
    ['self.sum()', [1, 2, 3], 4],
    ['self.sort()', [3, 1, 2], 1 + 18 + 11],
    ['sets.contains(self, [1, 2])', [1, 2, 3], 1 + 10 + 7],
    ['5 in self', [1, 2, 3], 4],
  ])('%s', (source, self, cost) => {
    expect(run(source, self).cost).toBe(cost);
  });
});

describe('texts', () => {
  it.each<[string, unknown]>([
    ["'😀a😀'.indexOf('a')", 1],
    ["'😀a😀a'.lastIndexOf('a')", 3],
    ["'😀a😀a'.lastIndexOf('a', 2)", 1],
    ["'😀a'.charAt(2)", ''],
    ["'abcabc'.replace('', '-')", '-a-b-c-a-b-c-'],
    ["'abc'.replace('', '-', 2)", '-a-bc'],
    ["'aXbXc'.replace('X', '', 1)", 'abXc'],
    ["'a,b,c'.split(',', 2)", ['a', 'b,c']],
    ["'a,b,c'.split(',', 0)", []],
    ["'abc'.indexOf('', 2)", 2],
    ["'abc'.lastIndexOf('')", 3],
    ["'ab'.split('')", ['a', 'b']],
    ["'%d %s %.1f %x %%'.format([dyn(1), dyn(['a', 'b']), dyn(2.25), dyn(255)])", '1 [a, b] 2.3 ff %'],
    ["uint('18446744073709551615') > 1u", true],
    ['[1, 2, 3, 4].slice(1, 3)', [2, 3]],
    ["'a' < '😀' && '\\uffff' < '😀'", true],
  ])('%s', (source, wanted) => {
    expect(run(source).result).toEqual(wanted);
  });
});
