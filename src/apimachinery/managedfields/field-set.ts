// Sets of field paths (sigs.k8s.io/structured-merge-diff, fieldpath.Set), kept as the FieldsV1 tree they are stored as: `{}` is a member
// without children, `.` beside children marks the parent itself as a member. All functions are pure and share what did not change.
import { compareElements, elementText, isElement } from './element.ts';
import { isEmptyObject, isObject } from './json.ts';

/** One path and what is below it. */
export interface FieldNode {
  readonly [element: string]: FieldNode;
}

/** The children of the root; the root itself is never a member. `{}` is the empty set. */
export type FieldSet = FieldNode;

export const leaf: FieldNode = Object.freeze({});
export const emptySet: FieldSet = leaf;

export const isEmptySet = (set: FieldSet): boolean => isEmptyObject(set);
export const isMember = (node: FieldNode): boolean => node['.'] !== undefined || isEmptyObject(node);

type Children = Record<string, FieldNode>;

/** Puts a node together; undefined when there is nothing in it. */
export function nodeOf(member: boolean, children: Children): FieldNode | undefined {
  if (isEmptyObject(children)) return member ? leaf : undefined;
  return member ? { '.': leaf, ...children } : children;
}

const childrenOf = (node: FieldNode): FieldNode => {
  if (node['.'] === undefined) return node;
  const { '.': _, ...children } = node;
  return children;
};

function unionNodes(a: FieldNode, b: FieldNode): FieldNode {
  if (a === b) return a;
  return nodeOf(isMember(a) || isMember(b), union(childrenOf(a), childrenOf(b))) ?? leaf;
}

/** In `a` or in `b`. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  const out: Children = {};
  let extra: string[] | undefined;
  for (const element in b) if (a[element] === undefined) (extra ??= []).push(element);
  const elements = extra === undefined ? Object.keys(a) : [...Object.keys(a), ...extra].sort(compareElements);
  for (const element of elements) {
    const left = a[element];
    const right = b[element];
    const node = left === undefined ? right : right === undefined ? left : unionNodes(left, right);
    if (node !== undefined) out[element] = node;
  }
  return out;
}

/** In `a` and in `b`. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: Children = {};
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined || element === '.') continue;
    const node = nodeOf(isMember(left) && isMember(right), intersection(childrenOf(left), childrenOf(right)));
    if (node !== undefined) out[element] = node;
  }
  return out;
}

/** In `a` but not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  const out: Children = {};
  for (const element in a) {
    const left = a[element];
    if (left === undefined || element === '.') continue;
    const right = b[element];
    const node =
      right === undefined ? left : nodeOf(isMember(left) && !isMember(right), difference(childrenOf(left), childrenOf(right)));
    if (node !== undefined) out[element] = node;
  }
  return out;
}

/** In `a`, and neither in `b` nor below a member of `b`. */
export function differenceWithBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return a;
  const out: Children = {};
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || element === '.') continue;
    if (right !== undefined && isMember(right)) continue;
    const node = right === undefined ? left : nodeOf(isMember(left), differenceWithBelow(childrenOf(left), right));
    if (node !== undefined) out[element] = node;
  }
  return out;
}

/** A tree of what a filter lets through; `*` stands for any element, `{}` for everything below. */
export interface FieldPattern {
  readonly [element: string]: FieldPattern;
}

/** Members of `set` on the way to, or below, the pattern. */
export function keepMatching(set: FieldSet, pattern: FieldPattern): FieldSet {
  if (isEmptyObject(pattern)) return set;
  const out: Children = {};
  for (const element in set) {
    const node = set[element];
    const below = pattern[element] ?? pattern['*'];
    if (node === undefined || below === undefined || element === '.') continue;
    const kept = nodeOf(isMember(node), keepMatching(childrenOf(node), below));
    if (kept !== undefined) out[element] = kept;
  }
  return out;
}

export const equalSets = (a: FieldSet, b: FieldSet): boolean => {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const left = a[element];
    const right = b[element];
    if (left === undefined || right === undefined || !equalSets(left, right)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
};

/** The printed paths of all members, as upstream orders them: members of a level first, then what is below. */
export function paths(set: FieldSet, prefix = ''): string[] {
  const out: string[] = [];
  for (const element in set) {
    const node = set[element];
    if (element !== '.' && node !== undefined && isMember(node)) out.push(prefix + elementText(element));
  }
  for (const element in set) {
    const node = set[element];
    if (element === '.' || node === undefined || isEmptyObject(node)) continue;
    out.push(...paths(childrenOf(node), prefix + elementText(element)));
  }
  return out;
}

/** The set of the fields with these paths of names. */
export function setOfPaths(fieldPaths: readonly (readonly string[])[]): FieldSet {
  let set: FieldSet = emptySet;
  for (const path of fieldPaths) {
    let node: FieldNode = leaf;
    for (const name of [...path].reverse()) node = { [`f:${name}`]: node };
    set = union(set, node);
  }
  return set;
}

/** Reads fieldsV1 from outside: unknown elements are left out, order is made right. undefined: not a field set at all. */
export function readFieldSet(input: unknown): FieldSet | undefined {
  if (!isObject(input)) return undefined;
  const out: Children = {};
  const elements = Object.keys(input).filter((element) => element !== '.' && isElement(element));
  for (const element of elements.sort(compareElements)) {
    const below = readFieldSet(input[element]);
    if (below === undefined) return undefined;
    const node = nodeOf(isMember(input[element] as FieldNode), below);
    if (node !== undefined) out[element] = node;
  }
  return out;
}
