// What the rules of one version may cost at most for one object (pkg/apis/apiextensions/validation, cel_validation.go and getCostErrorMessage). Which
// definitions can be written depends on it.
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import type { Path } from '#apimachinery/field';
import { definitionCostMax, ruleCostMax, sizesOf, type SizedShape, timesInRequest } from '#cel';
import type { Report } from '../../common/report.ts';
import { type CompiledRule, otherEntries, ruleCost, type RuleTree } from '../common/index.ts';

/** How often values of a schema can be in one object; undefined: the schemas around it set no bound. */
export type Times = number | undefined;

/** How often the values inside a schema's value can occur, from how often that value itself can. */
export function timesInside(times: Times, schema: JSONSchemaProps): Times {
  const { type, maxItems, maxProperties } = schema;
  const isMap = type === 'object' && otherEntries(schema) !== undefined;
  if (type !== 'array' && !isMap) return times;
  const max = isMap ? maxProperties : maxItems;
  return times === undefined || max === undefined ? undefined : product(times, Math.max(0, max));
}

const product = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);

/** Rules that are named when all together cost too much. */
const namedMax = 4;
const advice =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

function exceeds(what: string, cost: number, costMax: number): string {
  const factor = cost / costMax;
  const text = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${what} exceeds budget by factor of ${text} ${advice}`;
}

export class RuleCosts {
  readonly #report: Report;
  /** The schema is stored as it is: single rules of it are not judged again. */
  readonly #isStored: boolean;
  #total = 0;
  #largest: { path: Path; cost: number }[] = [];

  constructor(report: Report, isStored: boolean) {
    this.#report = report;
    this.#isStored = isStored;
  }

  rule(path: Path, { program }: CompiledRule, tree: RuleTree, times: Times): void {
    if (!program) return;
    const sized = sizesOf(tree.schema as SizedShape, tree.isRoot);
    const often = times ?? (sized ? timesInRequest(sized) : 0);
    this.#observe(path, product(ruleCost(program, tree), often), 'estimated rule cost');
  }

  message(path: Path, { message }: CompiledRule, tree: RuleTree): void {
    if (message) this.#observe(path, ruleCost(message, tree), 'estimated messageExpression cost');
  }

  /** Reports it when all rules together cost too much. */
  total(path: Path): void {
    if (this.#total <= definitionCostMax) return;
    for (const { path: at } of this.#largest)
      this.#report.forbidden(at, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema');
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    this.#report.forbidden(path, exceeds(what, this.#total, definitionCostMax));
  }

  #observe(path: Path, cost: number, what: string): void {
    if (!this.#isStored && cost > ruleCostMax) this.#report.forbidden(path, exceeds(what, cost, ruleCostMax));
    this.#total += cost;
    if (cost < definitionCostMax / 100) return;
    this.#largest.push({ path, cost });
    this.#largest.sort((a, b) => b.cost - a.cost);
    this.#largest.length = Math.min(this.#largest.length, namedMax);
  }
}
