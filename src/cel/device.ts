// Selectors of devices (k8s.io/dynamic-resource-allocation/cel).
import type { Work } from '#regexp';
import { selectorCostMax } from './limits.ts';
import { compile, environmentOf, isProgram, type Program } from './program.ts';
import type { Sized } from './sizes.ts';
import { isDyn, map, type ObjectType, opaque, string, bool, dyn, type Type, typeText } from './types.ts';

const fields: Record<string, Type> = {
  driver: string,
  attributes: map(string, map(string, dyn)),
  capacity: map(string, map(string, opaque('kubernetes.Quantity'))),
  allowMultipleAllocations: bool,
};

/** A device, as `device`. */
export const deviceType: ObjectType = {
  kind: 'object',
  name: 'DRADevice',
  field: (name) => (Object.hasOwn(fields, name) ? fields[name] : undefined),
};

/** A program that tells whether a device fits, or what is wrong. */
export function compileDeviceSelector(expression: string, work?: Work): Program | { problem: string } {
  const compiled = compile(expression, environmentOf([['device', deviceType]], { bindings: true }), [], work);
  if (!isProgram(compiled) || isDyn(compiled.type) || compiled.type.kind === 'bool') return compiled;
  return { problem: `must evaluate to bool or the unknown type, not ${typeText(compiled.type)}` };
}

const attributesMax = 32;
const attribute: Sized = { max: 64, leastBytes: 0 };
const id: Sized = { max: 32, leastBytes: 0 };
const domain: Sized = { max: 63, leastBytes: 0 };
const attributes: Sized = { max: attributesMax, leastBytes: 0, keys: id, items: attribute, anyField: attribute };
const capacity: Sized = { max: attributesMax, leastBytes: 0, keys: id, items: { max: 0, leastBytes: 0 } };
const deviceSize: Sized = {
  max: 0,
  leastBytes: 0,
  fields: new Map<string, Sized>([
    ['driver', { max: 63, leastBytes: 0 }],
    ['allowMultipleAllocations', { max: 1, leastBytes: 0 }],
    ['attributes', { max: attributesMax, leastBytes: 0, keys: domain, items: attributes }],
    ['capacity', { max: attributesMax, leastBytes: 0, keys: domain, items: capacity }],
  ]),
};
const sizes = { of: (name: string) => (name === 'device' ? deviceSize : undefined), made: undefined };

/** What is wrong with the text of a selector. */
export interface SelectorProblem {
  problem: string;
  /** It is well written, but may cost more than it may. */
  isTooComplex: boolean;
}

export function deviceSelectorProblem(expression: string, work?: Work): SelectorProblem | undefined {
  const compiled = compileDeviceSelector(expression, work);
  if (!isProgram(compiled)) return { ...compiled, isTooComplex: false };
  if (compiled.costMax(sizes) <= selectorCostMax) return undefined;
  return { problem: 'too complex, exceeds cost limit', isTooComplex: true };
}
