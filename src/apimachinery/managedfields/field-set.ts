// Sets of field paths (sigs.k8s.io/structured-merge-diff, fieldpath.Set), kept as the FieldsV1 tree they are stored as: `{}` is a member
// without children, `.` beside children marks the parent itself as a member. All functions are pure and share what did not change.
import { elementText, isElement, sortedElements } from './element.ts';
import { isEmptyObject, isObject } from './json.ts';

/** One path and what is below it. */
export interface FieldNode {
  readonly [element: string]: FieldNode;
}

/** The children of the root; the root itself is never a member. `{}` is the empty set. */
export type FieldSet = FieldNode;

export const leaf: FieldNode = Object.freeze({});
export const emptySet: FieldSet = leaf;

// JavaScript looks at all keys of a large object before it tells the first one. Large sets are therefore remembered when they are made.
const wide = new WeakSet<FieldNode>();
const wideMin = 256;

export const isEmptySet = (set: FieldSet): boolean => set === leaf || (!wide.has(set) && isEmptyObject(set));
export const isMember = (node: FieldNode): boolean => node['.'] !== undefined || isEmptySet(node);

/** Tells the room that a set just made has so many elements. */
export function noteWidth<T extends FieldNode>(set: T, elements: number): T {
  if (elements >= wideMin) wide.add(set);
  return set;
}

type Children = Record<string, FieldNode>;

/** Puts a node together of children without `.`; undefined when there is nothing in it. */
export function nodeOf(member: boolean, children: Children): FieldNode | undefined {
  if (isEmptySet(children)) return member ? leaf : undefined;
  return member ? marked(children) : children;
}

/** Children, and the node itself as a member. */
function marked(children: FieldNode): FieldNode {
  const out: Children = { '.': leaf };
  let count = 0;
  for (const element in children) {
    out[element] = children[element] ?? leaf;
    count++;
  }
  return noteWidth(out, count);
}

function unionNodes(a: FieldNode, b: FieldNode): FieldNode {
  if (a === b) return a;
  const joined = union(a, b);
  // A member without children has no `.`: it needs one now that it has some.
  const needsMark = joined['.'] === undefined && !isEmptySet(joined) && (isMember(a) || isMember(b));
  return needsMark ? marked(joined) : joined;
}

/** The paths that are in `a` or in `b`. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  let elements = Object.keys(a);
  let extra = 0;
  for (const element in b) if (a[element] === undefined) extra = elements.push(element);
  if (extra > 0) elements = sortedElements(elements);
  let changed = extra > 0;
  const nodes = elements.map((element) => {
    const left = a[element];
    const right = b[element];
    const node = left === undefined ? right : right === undefined ? left : unionNodes(left, right);
    changed ||= node !== left;
    return node ?? leaf;
  });
  return changed ? fromElements(elements, nodes) : a;
}

function fromElements(elements: readonly string[], nodes: readonly FieldNode[]): FieldNode {
  const out: Children = {};
  for (let at = 0; at < elements.length; at++) out[elements[at] as string] = nodes[at] ?? leaf;
  return noteWidth(out, elements.length);
}

/**
 * The children of `a` as `kept` has them: undefined leaves a child out. The same object where nothing changed, which spares the copies of
 * large sets that most writes leave alone.
 */
function mapChildren(a: FieldNode, kept: (left: FieldNode, element: string) => FieldNode | undefined): FieldNode {
  const elements: string[] = [];
  const nodes: FieldNode[] = [];
  let changed = false;
  for (const element in a) {
    const left = a[element];
    if (left === undefined) continue;
    const node = element === '.' ? left : kept(left, element);
    changed ||= node !== left;
    if (node === undefined) continue;
    elements.push(element);
    nodes.push(node);
  }
  if (elements.length === 0 || (elements.length === 1 && elements[0] === '.')) return emptySet;
  return changed ? fromElements(elements, nodes) : a;
}

/** What `mapChildren` made of a node, which is a member or not; undefined when there is nothing left of it. */
function withMembership(children: FieldNode, member: boolean): FieldNode | undefined {
  if (children === emptySet) return member ? leaf : undefined;
  if ((children['.'] !== undefined) === member) return children;
  if (member) return marked(children);
  const { '.': _, ...rest } = children;
  return nodeOf(false, rest);
}

/** The paths that are in `a` and in `b`. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  return mapChildren(a, (left, element) => {
    const right = b[element];
    if (right === undefined || left === right) return right;
    const member = isMember(left) && isMember(right);
    return withMembership(intersection(left, right), member);
  });
}

/** The paths that are in `a` but not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b === emptySet) return isEmptySet(a) ? emptySet : a;
  return mapChildren(a, (left, element) => {
    const right = b[element];
    if (right === undefined) return left;
    if (left === right) return undefined;
    return withMembership(difference(left, right), isMember(left) && !isMember(right));
  });
}

/** In `a`, and neither in `b` nor below a member of `b`. */
export function differenceWithBelow(a: FieldSet, b: FieldSet): FieldSet {
  if (b === emptySet) return isEmptySet(a) ? emptySet : a;
  return mapChildren(a, (left, element) => {
    const right = b[element];
    if (right === undefined) return left;
    return isMember(right) ? undefined : withMembership(differenceWithBelow(left, right), isMember(left));
  });
}

/** A tree of what a filter lets through; `*` stands for any element, `{}` for everything below. */
export interface FieldPattern {
  readonly [element: string]: FieldPattern;
}

/** Members of `set` on the way to, or below, the pattern. */
export function keepMatching(set: FieldSet, pattern: FieldPattern): FieldSet {
  if (isEmptyObject(pattern)) return isEmptySet(set) ? emptySet : set;
  return mapChildren(set, (node, element) => {
    const below = pattern[element] ?? pattern['*'];
    return below === undefined ? undefined : withMembership(keepMatching(node, below), isMember(node));
  });
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
    if (element === '.' || node === undefined || isEmptySet(node)) continue;
    for (const path of paths(node, prefix + elementText(element))) out.push(path);
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
  let count = 0;
  const elements = Object.keys(input).filter((element) => element !== '.' && isElement(element));
  for (const element of sortedElements(elements)) {
    const given = input[element] ?? leaf;
    const below = readFieldSet(given);
    if (below === undefined) return undefined;
    const node = nodeOf(isMember(given as FieldNode), below);
    if (node === undefined) continue;
    out[element] = node;
    count++;
  }
  return noteWidth(out, count);
}
