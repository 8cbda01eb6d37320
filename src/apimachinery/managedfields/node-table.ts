// Nodes of field sets, each kept once. Objects of one owner state the same fields, so their sets are the same tree again and again: it is found
// step by step, child after child, and made only when it was never met. Equal sets are then one object, in memory and to whoever compares or
// encodes them. Pure: what is remembered never changes an answer.
import { compareElements, sortedElements } from './element.ts';
import { type FieldNode, leaf, noteWidth } from './field-set.ts';
import { nodeStepsMax, sharedChildrenMax } from './limits.ts';

type Children = Record<string, FieldNode>;

/** A node as far as it is known: the children up to here. */
class Step {
  readonly #before: Step | undefined;
  readonly #element: string;
  readonly #child: FieldNode;
  readonly length: number;
  /** The way on that was taken first, which is most often the only one. */
  #first: Step | undefined;
  #others: Map<string, Map<FieldNode, Step>> | undefined;
  #node: FieldNode | undefined;

  constructor(before?: Step, element = '', child = leaf) {
    this.#before = before;
    this.#element = element;
    this.#child = child;
    this.length = before ? before.length + 1 : 0;
  }

  to(element: string, child: FieldNode): Step {
    const first = this.#first;
    if (first !== undefined && first.#child === child && first.#element === element) return first;
    if (first !== undefined) return this.#other(element, child);
    table.steps++;
    this.#first = new Step(this, element, child);
    return this.#first;
  }

  #other(element: string, child: FieldNode): Step {
    this.#others ??= new Map();
    let steps = this.#others.get(element);
    if (steps === undefined) this.#others.set(element, (steps = new Map()));
    let step = steps.get(child);
    if (step === undefined) {
      table.steps++;
      steps.set(child, (step = new Step(this, element, child)));
    }
    return step;
  }

  /** The node whose children are these. */
  get node(): FieldNode {
    this.#node ??= Object.freeze(this.children());
    return this.#node;
  }

  children(): Children {
    const way: Step[] = [];
    for (let step: Step | undefined = this; step.#before !== undefined; step = step.#before) way.push(step);
    const out: Children = {};
    for (const step of way.reverse()) out[step.#element] = step.#child;
    return out;
  }
}

/** Everything is forgotten when it has become too much; sets that are in use stay what they are. */
const newTable = (): { steps: number; plain: Step; member: Step } => {
  const plain = new Step();
  return { steps: 0, plain, member: new Step(plain, '.', leaf) };
};
let table = newTable();

/** Puts a node together, child by child. Nodes of very many children are made for themselves: they are hardly ever met twice. */
export class NodeBuilder {
  readonly #member: boolean;
  #step: Step;
  #added = 0;
  #last = '';
  #own: Children | undefined;
  #sorted = true;

  /** `member`: the node itself is in the set. */
  constructor(member: boolean) {
    if (table.steps > nodeStepsMax) table = newTable();
    this.#member = member;
    this.#step = member ? table.member : table.plain;
  }

  /** A child that comes behind those before, in the order of elements. */
  add(element: string, child: FieldNode): void {
    this.#added++;
    this.#last = element;
    if (this.#own !== undefined) this.#own[element] = child;
    else if (this.#step.length < sharedChildrenMax) this.#step = this.#step.to(element, child);
    else this.#own = { ...this.#step.children(), [element]: child };
  }

  /** A child that comes anywhere. */
  put(element: string, child: FieldNode): void {
    if (this.#added > 0 && this.#sorted && compareElements(this.#last, element) > 0) {
      this.#sorted = false;
      this.#own ??= this.#step.children();
    }
    this.add(element, child);
  }

  /** The set as a tree; undefined when the set is empty. */
  node(): FieldNode | undefined {
    if (this.#added === 0) return this.#member ? leaf : undefined;
    if (this.#own === undefined) return this.#step.node;
    return noteWidth(this.#sorted ? this.#own : sorted(this.#own), this.#added);
  }
}

function sorted(children: Children): FieldNode {
  const { '.': member, ...others } = children;
  const builder = new NodeBuilder(member !== undefined);
  for (const element of sortedElements(Object.keys(others))) builder.add(element, others[element] ?? leaf);
  return builder.node() ?? leaf;
}
