// Label selectors (k8s.io/apimachinery/pkg/labels): immutable, compiled once, matched millions of times.
import { quote } from '#utils';
import { badRequest } from '../errors/index.ts';
import type { LabelSelector } from '../meta/index.ts';
import { parseRequirements } from './parse.ts';
import { compile, type Labels, type Operator, type Requirement, requirement, requirementText } from './requirement.ts';

export interface Selector {
  /** undefined labels match as none. */
  matches(labels: Labels | undefined): boolean;
  /** Selects everything. */
  readonly empty: boolean;
  /** The selector that no object matches. */
  readonly nothing: boolean;
  /** Sorted by key; empty for `everything` and `nothing`. */
  readonly requirements: readonly Requirement[];
  /** The one value this label must have, if the selector says so: what an index can be asked for. */
  exactMatch(key: string): string | undefined;
  toString(): string;
}

const noLabels: Labels = {};

/** A class: pods have thousands of selectors, most of which are asked nothing. */
class RequirementsSelector implements Selector {
  readonly requirements: readonly Requirement[];
  readonly nothing = false;
  /** Made when it is first needed. */
  #test: ((labels: Labels) => boolean) | undefined;

  constructor(terms: readonly Requirement[]) {
    this.requirements = terms.length < 2 ? terms : [...terms].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  }
  get empty(): boolean {
    return this.requirements.length === 0;
  }
  matches(labels = noLabels): boolean {
    return (this.#test ??= compile(this.requirements))(labels);
  }
  exactMatch(key: string): string | undefined {
    const term = this.requirements.find((one) => one.key === key);
    const exact = term?.operator === '=' || term?.operator === '==' || term?.operator === 'in';
    return exact && term.values.length === 1 ? term.values[0] : undefined;
  }
  toString(): string {
    return this.requirements.map(requirementText).join(',');
  }
}

/** The selector of objects that meet all of these requirements. */
export const selectorOf = (terms: readonly Requirement[]): Selector => new RequirementsSelector(terms);

/** The selector that every object matches. */
export const everything: Selector = selectorOf([]);

/** Matches no object. */
export const nothing: Selector = {
  requirements: [],
  empty: false,
  nothing: true,
  matches: () => false,
  exactMatch: () => undefined,
  toString: () => '',
};

/** Reads a selector as clients write it: `a=b,c in (d,e),!f`. Throws a 400 StatusError with upstream's text. */
export function parse(text: string): Selector {
  const requirements = parseRequirements(text);
  return requirements.length === 0 ? everything : selectorOf(requirements);
}

/** The selector of objects that have all these labels, which are taken as valid. */
export function fromSet(labels: Labels | undefined): Selector {
  const keys = Object.keys(labels ?? noLabels);
  if (labels === undefined || keys.length === 0) return everything;
  return selectorOf(keys.map((key) => ({ key, operator: '=', values: [labels[key] ?? ''] })));
}

const operatorOf: Record<string, Operator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** From the API's form: undefined selects nothing, an empty one everything. Throws a 400 StatusError when it is not valid. */
export function fromLabelSelector(selector: LabelSelector | undefined | null): Selector {
  if (selector === undefined || selector === null) return nothing;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const requirements = Object.keys(matchLabels).map((key) => requirement(key, '=', [matchLabels[key] ?? '']));
  for (const expression of matchExpressions) {
    const operator = Object.hasOwn(operatorOf, expression.operator) ? operatorOf[expression.operator] : undefined;
    if (operator === undefined) throw badRequest(`${quote(expression.operator)} is not a valid label selector operator`);
    requirements.push(requirement(expression.key, operator, expression.values ?? []));
  }
  return requirements.length === 0 ? everything : selectorOf(requirements);
}

/** A selector that also asks for more. */
export const add = (selector: Selector, ...more: Requirement[]): Selector =>
  selector.nothing ? selector : selectorOf([...selector.requirements, ...more]);

/** `a=b,c=d`, sorted by key: how a set of labels is printed; '<none>' for none is the printer's business. */
export const labelsText = (labels: Labels | undefined): string =>
  Object.keys(labels ?? noLabels)
    .sort()
    .map((key) => `${key}=${labels?.[key] ?? ''}`)
    .join(',');
