// Selectors of devices (k8s.io/dynamic-resource-allocation/cel).
import { compile, environmentOf, isProgram, type Program } from './program.ts';
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
export function compileDeviceSelector(expression: string): Program | { problem: string } {
  const compiled = compile(expression, environmentOf([['device', deviceType]], { bindings: true }));
  if (!isProgram(compiled) || isDyn(compiled.type) || compiled.type.kind === 'bool') return compiled;
  return { problem: `must evaluate to bool or the unknown type, not ${typeText(compiled.type)}` };
}

export function deviceSelectorProblem(expression: string): string | undefined {
  const compiled = compileDeviceSelector(expression);
  return isProgram(compiled) ? undefined : compiled.problem;
}
