// Strings and regular expressions beyond the standard (cel-go ext/strings version 2; k8s.io/apiserver/pkg/cel/library, regex).
import { patternCost, rewriteCost, textCost, traversalCost } from '../run/call-costs.ts';
import { global, member } from '../check/environment.ts';
import { spendWork } from '../meter.ts';
import { find as findFirst, findAll } from '../values/patterns.ts';
import { dyn, int, list, string } from '../types.ts';
import { ListValue } from '../values/values.ts';
import { format } from './format.ts';
import { charAt, indexOf, joined, lastIndexOf, lowerAscii, replace, split, substring, upperAscii } from './text.ts';

const allMatches = (text: string, pattern: string, most?: bigint): ListValue => new ListValue(findAll(text, pattern, most));

const join = (items: ListValue, by = ''): string => joined(items.values() as string[], by);

function joinCost(items: ListValue, by = ''): number {
  const length = (items.values() as string[]).reduce((sum, item) => sum + item.length + by.length, 0);
  return Math.ceil(Math.max(0, length - by.length) * 0.2);
}

function quoted(text: string): string {
  spendWork(text.length / 8);
  return JSON.stringify(text);
}

export const stringFunctions = [
  member('charAt', [string, int], string, charAt),
  member('indexOf', [string, string], int, indexOf, traversalCost),
  member('indexOf', [string, string, int], int, indexOf, traversalCost),
  member('lastIndexOf', [string, string], int, lastIndexOf, traversalCost),
  member('lastIndexOf', [string, string, int], int, lastIndexOf, traversalCost),
  member('join', [list(string)], string, join, joinCost),
  member('join', [list(string), string], string, join, joinCost),
  member('lowerAscii', [string], string, lowerAscii, textCost),
  member('upperAscii', [string], string, upperAscii, textCost),
  member('replace', [string, string, string], string, replace, rewriteCost),
  member('replace', [string, string, string, int], string, replace, rewriteCost),
  member('split', [string, string], list(string), (text: string, by: string) => new ListValue(split(text, by, -1)), rewriteCost),
  member(
    'split',
    [string, string, int],
    list(string),
    (text: string, by: string, most: bigint) => new ListValue(split(text, by, Number(most))),
    rewriteCost,
  ),
  member('substring', [string, int], string, substring, textCost),
  member('substring', [string, int, int], string, substring, textCost),
  member('trim', [string], string, (text: string) => text.trim(), textCost),
  member('format', [string, list(dyn)], string, format, textCost),
  global('strings.quote', [string], string, quoted, textCost),
  member('find', [string, string], string, findFirst, patternCost),
  member('findAll', [string, string], list(string), allMatches, patternCost),
  member('findAll', [string, string, int], list(string), allMatches, patternCost),
];
