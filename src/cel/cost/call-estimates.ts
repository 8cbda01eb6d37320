// What one call may cost at most, and how large its result may be (cel-go checker/cost.go, ext; k8s.io/apiserver/pkg/cel/library, cost.go). Which
// definitions can be written depends on these numbers, so they are upstream's exactly.
import type { Node } from '../syntax/ast.ts';
import { listCost, structCost } from '../run/call-costs.ts';
import type { Overload } from '../check/environment.ts';
import type { Type } from '../types.ts';

/** How large a value may be: in characters, bytes, items or entries. */
export interface Size {
  min: number;
  max: number;
}

/** An argument, as far as costs depend on it. */
export interface Argument {
  node: Node;
  type: Type;
  size: Size;
  /** Whether anything is known of the size. */
  isSized: boolean;
  /** The size of each item, where it is a list. */
  itemSize: Size;
}

export interface CallEstimate {
  /** Without the arguments. */
  cost: number;
  result?: Size;
}

export const unknownSize: Size = { min: 0, max: Infinity };
export const one: Size = { min: 1, max: 1 };
export const fixedSize = (size: number): Size => ({ min: size, max: size });
export const union = (a: Size, b: Size): Size => ({ min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) });
/** Multiplies two sizes, of which one may be infinite: 0 times anything is 0. */
export const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);
const plus = (a: Size, b: Size): Size => ({ min: a.min + b.min, max: a.max + b.max });
const product = (a: Size, b: Size): Size => ({ min: times(a.min, b.min), max: times(a.max, b.max) });

const traversal = 0.1;
const regexFactor = 0.25;
const nameFormatRegexChars = 128;
const formatCharsMax = 64;
/** The longest address, as bytes. */
const addressBytesMax = 16;
const checkCost = 350_000;

const walk = ({ max }: Size, factor = traversal): number => Math.ceil(times(max, factor));
const flat: CallEstimate = { cost: 1 };

type Estimate = (args: readonly Argument[], overload: Overload) => CallEstimate | undefined;

const walked =
  (at: number, factor = traversal): Estimate =>
  (args) =>
    args[at] && { cost: walk(args[at].size, factor) };
const remade: Estimate = ([text]) => text && { cost: walk(text.size), result: text.size };
const nominal: Estimate = () => flat;

function selector(args: readonly Argument[]): CallEstimate | undefined {
  const length = args[1]?.size;
  return length && { cost: listCost + walk(length) + Math.ceil(times(walk(length, 0.5), listCost + structCost)) };
}

function search([list]: readonly Argument[]): CallEstimate | undefined {
  if (!list) return undefined;
  if (list.type.kind !== 'list') return { cost: walk(list.size) };
  const { kind } = list.type.of;
  const each = 1 + (kind === 'string' || kind === 'bytes' ? walk(list.itemSize) : 0);
  return { cost: times(list.size.max, each) };
}

function replace([text, from, to]: readonly Argument[]): CallEstimate | undefined {
  if (!text || !from || !to) return undefined;
  const count = { min: 0, max: 0 };
  const kept = { min: 0, max: 0 };
  if (from.size.min === 0) count.max = text.size.max + 1;
  else if (to.size.max > from.size.min) count.max = Math.ceil(text.size.max / from.size.min);
  if (from.size.min === 0 || to.size.max <= from.size.min) kept.max = text.size.max;
  if (from.size.max === 0) count.min = text.size.min + 1;
  else if (from.size.max > to.size.min) count.min = Math.ceil(text.size.min / from.size.max);
  if (from.size.max === 0 || from.size.max <= to.size.min) kept.min = text.size.min;
  return { cost: walk(text.size, 2 * traversal), result: plus(product(count, to.size), kept) };
}

const intOf = ({ node }: Argument, other: number): number =>
  node.kind === 'literal' && node.value.type === 'int' ? Math.max(0, Number(node.value.value)) : other;

function split([text, , limit]: readonly Argument[]): CallEstimate | undefined {
  if (!text) return undefined;
  const isLimited = limit?.node.kind === 'literal' && limit.node.value.type === 'int';
  const parts = isLimited ? Number((limit.node as { value: { value: bigint } }).value.value) : text.size.max;
  return { cost: walk(text.size, 2 * traversal), result: { min: 0, max: parts < 0 ? Infinity : parts } };
}

function join([list, separator]: readonly Argument[]): CallEstimate | undefined {
  if (!list) return undefined;
  let size = list.type.kind === 'list' ? product(list.size, list.itemSize) : { min: 0, max: 0 };
  const gaps = { min: Math.max(0, list.size.min - 1), max: Math.max(0, list.size.max - 1) };
  if (separator) size = plus(size, product(separator.size, gaps));
  return { cost: walk(size), result: size };
}

const matching = (text: Argument, pattern: Argument): number =>
  times(Math.ceil((text.size.max + 1) * traversal), walk(pattern.size, regexFactor));

const find: Estimate = ([text, pattern]) =>
  text && pattern && { cost: matching(text, pattern), result: { min: 0, max: text.size.max } };

/** An address or network in a network; a text of one is read first. */
const contains =
  (own: number): Estimate =>
  (args, { params }) => {
    const text = args[1];
    const read = text && params[1]?.kind === 'string' ? walk(text.size) : 0;
    return { cost: walk({ min: 0, max: 2 * addressBytesMax }) + own + read };
  };

const made = (size: Size, factor = 1): CallEstimate => ({ cost: walk(size, factor) + 1 + listCost, result: size });
const squared = ({ size }: Argument, factor: number): CallEstimate => made(product(size, size), factor);
const isText = (type: Type | undefined): boolean => type?.kind === 'string' || type?.kind === 'bytes';
const sort: Estimate = ([list], { params: [type] }) =>
  list && squared(list, 2 + (type?.kind === 'list' && isText(type.of) ? traversal : 0));

const sets =
  (factor: number): Estimate =>
  ([a, b]) =>
    a && b && { cost: Math.ceil(times(times(a.size.max, b.size.max), factor)) + 1 };

function slice([list, from, to]: readonly Argument[]): CallEstimate | undefined {
  if (!list || !from || !to) return undefined;
  const length = intOf(to, list.size.max) - intOf(from, 0);
  return made(fixedSize(length < 0 ? Infinity : length));
}

function added([a, b]: readonly Argument[], { params: [type] }: Overload): CallEstimate | undefined {
  if (!a || !b || !(isText(type) || type?.kind === 'list')) return undefined;
  const result = plus(a.size, b.size);
  return { cost: type?.kind === 'list' ? 1 : walk(result), result };
}

function compared([a, b]: readonly Argument[]): CallEstimate | undefined {
  return a && b && { cost: Math.ceil(times(Math.min(a.size.max, b.size.max), traversal)) };
}
const ordered: Estimate = (args, overload) => (isText(overload.params[0]) ? compared(args) : undefined);

const flatTypes = new Set(
  ['IP', 'CIDR', 'net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.Semver'].concat(
    ['Authorizer', 'PathCheck', 'GroupCheck', 'ResourceCheck', 'Decision'].map((name) => `kubernetes.authorization.${name}`),
  ),
);
const equal: Estimate = (args) => {
  const [a, b] = args;
  const name = a?.type.kind === 'opaque' && b?.type.kind === 'opaque' && a.type.name === b.type.name ? a.type.name : '';
  if (flatTypes.has(name)) return flat;
  if (name === 'kubernetes.NamedFormat') return { cost: walk(fixedSize(formatCharsMax)) };
  if (name === 'kubernetes.URL') return { cost: walk(b?.isSized ? b.size : one) };
  return compared(args);
};

const group = (names: string, estimate: Estimate): [string, Estimate][] => names.split(' ').map((name) => [name, estimate]);

/** By the function's name; where there is none, or it says nothing, a call costs 1. */
const estimates = new Map<string, Estimate>([
  ['check', () => ({ cost: checkCost })],
  ...group('fieldSelector labelSelector', selector),
  ...group('isSorted sum max min indexOf lastIndexOf', search),
  ...group('url jsonpatch.escapeKey lowerAscii upperAscii substring trim', remade),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ...group('find findAll', find),
  ...group('cidr isIP isCIDR quantity isQuantity semver isSemver', walked(0)),
  ['ip', (args, overload) => (overload.member ? flat : walked(0)(args, overload))],
  ['ip.isCanonical', walked(0, 2 * traversal)],
  ['containsIP', contains(0)],
  ['containsCIDR', contains(walk({ min: 0, max: addressBytesMax }) + 1)],
  ['validate', ([, text]) => text && { cost: Math.ceil(times(walk(text.size), nameFormatRegexChars * regexFactor)) }],
  ...group('format.named sign asInteger isInteger asApproximateFloat', nominal),
  ['sets.contains', sets(1)],
  ['sets.intersects', sets(1)],
  ['sets.equivalent', sets(2)],
  ['slice', slice],
  ['lists.range', ([count]) => count && made(fixedSize(intOf(count, Infinity)))],
  ['reverse', ([list]) => list && made(list.size)],
  ['flatten', ([list, depth]) => list && made(list.size, depth ? intOf(depth, Infinity) : 1)],
  ['distinct', ([list]) => list && squared(list, 2)],
  ['sort', sort],
  ['@sortByAssociatedKeys', sort],
  ['format', walked(0)],
  ['bytes', ([text], { params }) => (isText(params[0]) && text ? converted(text.size, 1, 4) : undefined)],
  ['string', ([value], { params }) => (params[0]?.kind === 'bytes' && value ? converted(value.size, 0.25, 1) : undefined)],
  [
    'strings.quote',
    ([text]) => text && { cost: walk(text.size), result: { min: text.size.min + 2, max: text.size.max * 2 + 2 } },
  ],
  ...group('startsWith endsWith', walked(1)),
  ['@in', ([, list], { params }) => (params[1]?.kind === 'list' && list ? { cost: list.size.max } : undefined)],
  ['matches', ([text, pattern], { member }) => (member && text && pattern ? { cost: matching(text, pattern) } : undefined)],
  ['contains', ([text, part]) => text && part && { cost: times(walk(text.size), walk(part.size)) }],
  ['_+_', added],
  ...group('_<_ _<=_ _>_ _>=_', ordered),
  ['_==_', equal],
  ['_!=_', compared],
]);

const converted = (size: Size, least: number, most: number): CallEstimate => ({
  cost: walk(size),
  result: { min: Math.trunc(size.min * least), max: times(size.max, most) },
});

/** Estimates what a call costs. The first of `args` is the receiver, where there is one. */
export const estimateCall = (name: string, overload: Overload, args: readonly Argument[]): CallEstimate =>
  estimates.get(name)?.(args, overload) ?? flat;
