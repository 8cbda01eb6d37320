// The numbers are upstream's: kube-apiserver v1.36 told them of these rules in the words of its refusals.
import { describe, expect, it } from 'vitest';
import { compile, deviceSelectorProblem, environmentOf, isProgram, schemaType, type SizedShape, sizesOf } from '../index.ts';

const text = (maxLength?: number): SizedShape => ({ type: 'string', ...(maxLength !== undefined && { maxLength }) });
const list = (items: SizedShape, maxItems?: number): SizedShape => ({
  type: 'array',
  items,
  ...(maxItems !== undefined && { maxItems }),
});
const map = (additionalProperties: SizedShape, maxProperties?: number): SizedShape => ({
  type: 'object',
  additionalProperties,
  ...(maxProperties !== undefined && { maxProperties }),
});
const object = (properties: Record<string, SizedShape>, required: string[] = []): SizedShape => ({
  type: 'object',
  properties,
  required,
});
const integer: SizedShape = { type: 'integer' };

const schema = object({
  s: text(10),
  t: text(33),
  e: { type: 'string', enum: ['a', 'bbbb', 'cc'] },
  n: integer,
  f: { type: 'number' },
  b: { type: 'boolean' },
  l: list(text(5), 7),
  li: list(integer, 9),
  ll: list(list(text(6), 4), 3),
  m: map(text(4), 3),
  mo: map(object({ x: text(8) }), 5),
  o: object({ p: text(12), q: object({ r: integer }) }, ['p']),
  y: { type: 'string', format: 'byte', maxLength: 20 },
  d: { type: 'string', format: 'duration' },
  dt: { type: 'string', format: 'date-time' },
  ios: { 'x-kubernetes-int-or-string': true, maxLength: 5 },
  lo: list(object({ name: text(9), v: integer }), 6),
  u: text(),
  ul: list(text(5)),
  um: map(text()),
  'a-b': text(3),
});
const type = schemaType(schema, 'object', false);
if (!type) throw new Error('no type');
const environment = environmentOf([
  ['self', type],
  ['oldSelf', type],
]);

function costOf(source: string): number {
  const program = compile(source, environment);
  if (!isProgram(program)) throw new Error(program.problem);
  const sized = sizesOf(schema);
  return program.costMax({ of: () => sized, made: sized });
}

describe('what an expression costs at most', () => {
  it.each<[string, number]>([
    ["self.s == 'abc'", 3],
    ['self.n == 1', 2],
    ["self.b ? self.s == 'a' : self.t == 'bcdefghijklmnop'", 6],
    ['self.s.contains(self.t)', 60],
    ["self.t.matches('^abcdefghijklmn[a-z]+$')", 86],
    ['self.s.size() > 3', 4],
    ['self.n in [1, 2, 3]', 15],
    ["self.m['k'] == 'abcd'", 4],
    ['self.l[0] == self.l[1]', 8],
    ["self.o.p == 'abcdefghijk'", 5],
    ["has(self.o.p) && self.o.p == 'a'", 6],
    ["self.l.exists_one(x, x == 'abc')", 32],
    ['self.l.filter(x, x.size() > 1).size() > 1', 127],
    ["self.m.exists(k, k.startsWith('aaa'))", 21],
    ["self.lo.map(x, x.name).exists(n, n == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')", 128],
    ['[1,2,3].all(x, x > 1)', 26],
    ["self.l == ['a']", 13],
    ['self.o == self.o', 4],
    ["self.s + self.t == 'a'", 23],
    ['self.s < self.t', 8],
    ["string(self.y) == 'abc'", 5],
    ['int(self.s) == 1', 4],
    ["self.d == duration('1h')", 4],
    ['type(self.ios) == int', 4],
    ["dyn(self.s) == 'abc'", 4],
    ['self.s.trim().size() > 1', 8],
    ["self.s.replace('a', 'bb').matches('^abcdefghijk$')", 46],
    ["self.s.replace(self.t, 'bbb').matches('^abcdefghijk$')", 80],
    ["self.s.split(',').size() > 1", 12],
    ["self.s.charAt(1) == 'a'", 4],
    ["self.l.indexOf('a') > 1", 24],
    ["self.s.findAll('[a-z]+').size() > 1", 14],
    ['self.li.isSorted()', 11],
    ["self.l.min() == 'a'", 24],
    ['isURL(self.s)', 3],
    ['isQuantity(self.s)', 6],
    ['isIP(self.s)', 6],
    ['ip.isCanonical(self.s)', 10],
    ['cidr(self.s).containsIP(ip(self.t))', 26],
    ["cidr(self.s).ip() == ip('10.0.0.1')", 9],
    ['format.dns1123Label().validate(self.s).hasValue()', 132],
    ['isSemver(self.s)', 6],
    ['semver(self.s) == semver(self.t)', 23],
    ['sets.intersects(self.l, self.l)', 54],
    ['self.ll.flatten().size() > 1', 18],
    ['lists.range(5).all(x, x > 1)', 42],
    ["self.l.transformList(i, v, v + 'a').size() > 1", 127],
    ["self.l.all(i, v, i > 1 && v == 'a')", 52],
    ["self.l.existsOne(i, v, v == 'abcdefghijk')", 39],
    ["self.?o.p.orValue('abc').startsWith('abcdefghijklmnop')", 5],
    ['self.?s.optMap(x, x.size()).orValue(1) > 0', 21],
    ['optional.none().hasValue()', 2],
    ["self.e.startsWith('abcdefgh')", 3],
    ["self.u.startsWith('aaa')", 3],
    ["'a' in self.um", 3],
    ['self.l.all(x, x in oldSelf.l)', 94],
    ["self.l.map(x, {'a': x}).all(y, y['a'] == 'abcdefghijkl')", 364],
    ["[self.s, self.t].all(x, x.contains('aaaaaaaaaaaaaaaaa'))", 23],
    ["{'a': self.s}.all(k, v, v == 'aaaaaaaaaaaaaaaaaaaaaaaaaaaa')", 37],
    ['!(self.b)', 3],
    ["'a\\nb😀' == self.s", 3],
    ['self.li.filter(x, x > 1).map(y, y * 2).exists(z, z == 3)', 331],
    ['self.lo[0].name.matches(self.lo[1].name)', 44],
  ])('%s', (source, cost) => {
    expect(costOf(source)).toBe(cost);
  });
});

describe('selectors of devices that may cost too much are refused', () => {
  it.each<[string, boolean]>([
    ["device.attributes['a.example.com'].b.matches('^a$')", false],
    ['lists.range(100000).all(x, device.allowMultipleAllocations)', false],
    ['lists.range(500).all(x, lists.range(500).all(y, device.driver.size() > 1))', true],
    [
      'device.attributes.all(d, device.attributes.all(e, device.attributes[e].all(j, device.attributes[d].all(k, j == k))))',
      true,
    ],
  ])('%s', (source, isTooComplex) => {
    expect(deviceSelectorProblem(source)?.isTooComplex ?? false).toBe(isTooComplex);
  });
});
