// A question about access as a SubjectAccessReview, for webhooks and for their match conditions. Pure.
import {
  accessReviewType,
  budgetWorkUnits,
  CelError,
  compileAccessReviewCondition,
  isProgram,
  ObjectValue,
  type Program,
} from '#cel';
import { parse as parseFields } from '#apimachinery/fields';
import { parse as parseLabels } from '#apimachinery/labels';
import { Work } from '#regexp';
import type { Attributes } from '../../request/request.ts';

export interface AccessReviewSpec {
  resourceAttributes?: Record<string, unknown>;
  nonResourceAttributes?: { path: string; verb: string };
  user: string;
  groups: string[];
  extra?: Record<string, string[]>;
  uid?: string;
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** What cannot be parsed narrows nothing. */
function requirementsOf(parse: () => Requirement[]): { requirements: Requirement[] } | undefined {
  try {
    const requirements = parse();
    return requirements.length > 0 ? { requirements } : undefined;
  } catch {
    return undefined;
  }
}

const fieldOperators: Record<string, string> = { '=': 'In', '!=': 'NotIn' };
const fieldRequirements = (text: string): Requirement[] =>
  parseFields(text).requirements.flatMap(({ field, operator, value }) => {
    const named = fieldOperators[operator];
    return named === undefined ? [] : [{ key: field, operator: named, values: [value] }];
  });

const labelOperators: Record<string, string> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};
const labelRequirements = (text: string): Requirement[] =>
  (parseLabels(text).requirements ?? []).flatMap(({ key, operator, values }) => {
    const named = labelOperators[operator];
    if (named === undefined) return [];
    return [{ key, operator: named, ...(values.length > 0 && { values: [...values] }) }];
  });

export function accessReviewOf({ user, verb, target, path = '', options }: Attributes): AccessReviewSpec {
  const { name, uid, groups, extra } = user;
  const who = { user: name, groups: [...groups], ...(extra && { extra }), ...(uid && { uid }) };
  if (!target) return { nonResourceAttributes: { path, verb }, ...who };
  const fields = options?.fieldSelector ? requirementsOf(() => fieldRequirements(options.fieldSelector ?? '')) : undefined;
  const labels = options?.labelSelector ? requirementsOf(() => labelRequirements(options.labelSelector ?? '')) : undefined;
  const { namespace, group, version, resource, subresource } = target;
  const given = { namespace, verb, group, version, resource, subresource, name: target.name };
  return {
    resourceAttributes: {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
      ...(fields && { fieldSelector: fields }),
      ...(labels && { labelSelector: labels }),
    },
    ...who,
  };
}

/** In conditions every text is there, also where it is empty. */
function conditionInput(spec: AccessReviewSpec): Record<string, unknown> {
  const { resourceAttributes: asked } = spec;
  const empty = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' };
  return {
    ...{ uid: '', extra: {} },
    ...spec,
    ...(asked && { resourceAttributes: { ...empty, ...asked } }),
  };
}

export interface Condition {
  expression: string;
  program: Program;
}

/** Compiles match conditions that validation has accepted. */
export const compileConditions = (conditions: readonly { expression?: string }[]): Condition[] =>
  conditions.map(({ expression = '' }) => {
    const program = compileAccessReviewCondition(expression);
    if (!isProgram(program)) throw new Error(program.problem);
    return { expression, program };
  });

/** Whether all hold, or why that cannot be said: one that does not hold outweighs those that fail. */
export function conditionsHold(conditions: readonly Condition[], spec: AccessReviewSpec): boolean | string {
  if (conditions.length === 0) return true;
  const variables = new Map([['request', new ObjectValue(conditionInput(spec), accessReviewType)]]);
  const work = new Work(budgetWorkUnits);
  const errors: string[] = [];
  for (const { expression, program } of conditions) {
    try {
      if (program.evaluate(variables, { work }) === false) return false;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      errors.push(`cel evaluation error: expression '${expression}' resulted in error: ${error.message}`);
    }
  }
  if (errors.length === 0) return true;
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}
