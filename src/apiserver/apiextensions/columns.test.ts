// Cells as upstream's apiserver v1.36.2 printed them of the same object and columns.
import { expect, test } from 'vitest';
import type { CustomResourceDefinitionVersion } from '#api/apiextensions/v1';
import { printerOf } from './columns.ts';

const now = Date.parse('2026-11-22T00:00:00Z');
const object = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'x', creationTimestamp: '2026-11-21T23:59:30Z' },
  spec: {
    ...{ a: 'one', n: 5, f: 1.5, big: 12345678901, t: true, no: false, s: 'text with "quotes"', html: { h: '<a&b>' } },
    m: { a: 1, b: { c: 2 }, 'a.b': 'dotted' },
    ...{
      date: '2020-01-02T03:04:05Z',
      badDate: '2020-01-02',
      list: [
        [1, 2],
        [3, 4],
      ],
      dict: { 'x-y/z': 'v' },
    },
    ...{ empty: {}, emptyList: [], emptyText: '' },
    conditions: [
      { type: 'Ready', status: 'True', n: 1, k: 2, b: true, f: 1.5 },
      { type: 'Synced', status: 'False', n: 2, k: 1, b: false, f: 2.5 },
      { type: 'Third', status: 'Unknown', n: 3, k: 3 },
    ],
  },
};

const cells = (columns: [path: string, type?: string][], of: object = object): unknown[] => {
  const additionalPrinterColumns = columns.map(([jsonPath, type = 'string']) => ({ name: 'c', type, jsonPath }));
  return printerOf({ name: 'v1', additionalPrinterColumns } as CustomResourceDefinitionVersion).cells(of as never, now);
};

test.each([
  ['.spec.a', 'one'],
  ['.spec.conditions[?(@.type=="Ready")].status', 'True'],
  [".spec.conditions[?(@.type=='Ready')].status", 'True'],
  ['.spec.conditions[*].type', 'Ready'],
  ['.spec.conditions[-1].type', 'Third'],
  ['.spec.conditions[-1:].type', 'Third'],
  ['.spec.conditions[0:2].type', 'Ready'],
  ['.spec.conditions[2:].type', 'Third'],
  ['.spec.conditions[-2:-1].type', 'Synced'],
  ['.spec.conditions[::2].type', 'Ready'],
  ['.spec.conditions[].type', 'Ready'],
  ['.spec.conditions[0,1].type', 'Ready'],
  ['.spec.conditions[1:0].type', null],
  ['.spec.conditions[0:0].type', null],
  ['.spec.conditions[9].type', null],
  ['.spec.conditions[-9].type', null],
  ['..type', 'Ready'],
  ['.spec..type', 'Ready'],
  ['..x', null],
  ['.', null],
  [".spec.m['a','b']", '1'],
  [".spec.m['a.b']", null],
  [".spec.m['a\\.b']", 'dotted'],
  ['.spec.m.a\\.b', 'dotted'],
  ['.spec.dict.x-y/z', 'v'],
  ['.spec.m', '{"a":1,"a.b":"dotted","b":{"c":2}}'],
  ['.spec.html', '{"h":"\\u003ca\\u0026b\\u003e"}'],
  ['.spec.empty', '{}'],
  ['.spec.emptyList', '[]'],
  ['.spec.emptyText', ''],
  ['.spec.n', '5'],
  ['.spec.f', '1.5'],
  ['.spec.big', '12345678901'],
  ['.spec.t', 'true'],
  ['.spec.no', 'false'],
  ['.spec.missing', null],
  ['.spec.conditions[?(@.n>1)].type', 'Synced'],
  ['.spec.conditions[?(@.n>=1)].type', 'Ready'],
  ['.spec.conditions[?(@.n!=1)].type', 'Synced'],
  ['.spec.conditions[?(@.n<@.k)].type', 'Ready'],
  ['.spec.conditions[?(@.b==true)].type', 'Ready'],
  ['.spec.conditions[?(@.f==1.5)].type', 'Ready'],
  ['.spec.conditions[?(@.n=="1")].type', null],
  ['.spec.conditions[?(@.missing)].type', null],
  ['.spec.conditions[?(@.type)].type', 'Ready'],
  ['.spec.conditions[?(@.type=="No")].type', null],
  ['.spec.conditions[?(@.n)].n', '1'],
  ['.spec.list[1][0]', '3'],
  ['.spec.list[*][*]', '1'],
  ['.spec.a[0]', null],
  ['.spec.a.b', null],
  ['.spec.a 5', '5'],
  ['.spec.a "x"', 'x'],
])('%s is %s', (path, cell) => {
  expect(cells([[path]])).toEqual(['x', cell]);
});

test.each([
  ['integer', ['.spec.n', 5], ['.spec.f', 1], ['.spec.a', null]],
  ['number', ['.spec.n', 5], ['.spec.f', 1.5], ['.spec.t', null]],
  ['boolean', ['.spec.t', true], ['.spec.no', false], ['.spec.n', null]],
  ['date', ['.spec.date', '6y325d'], ['.spec.badDate', '<invalid>'], ['.spec.emptyText', '<unknown>'], ['.spec.n', null]],
] as [string, ...[string, unknown][]][])('a column of type %s has cells of that type only', (type, ...rows) => {
  expect(cells(rows.map(([path]) => [path, type]))).toEqual(['x', ...rows.map(([, cell]) => cell)]);
});

test('columns end at the first whose path is none', () => {
  const bad = ['.spec["a"]', '.spec[', '.spec.a[?(', '.spec.a[x]', '.spec....x', '.spec.a[?(@.b==1]', '.spec\n.a'];
  for (const path of bad) expect(cells([['.spec.a'], [path], ['.spec.a']])).toEqual(['x', 'one']);
});

test('without columns there is the age', () => {
  expect(cells([])).toEqual(['x', '30s']);
});

test('paths that look at everything again and again leave the cell empty, not the server busy', () => {
  const deep = (depth: number): object => (depth === 0 ? { leaf: 1 } : { a: deep(depth - 1), b: deep(depth - 1) });
  const big = { ...object, spec: deep(12) };
  expect(cells([['..[*]..[*]..[*]'], ['.metadata.name']], big)).toEqual(['x', null, null]);
  expect(cells([['.metadata.name'], ['..leaf..leaf..leaf..leaf']], big)).toEqual(['x', 'x', null]);
});
