// Whether the expressions of a class or a request choose a device. What was found for a device is remembered as long as the device is, because
// published devices do not change.
import type { Device, DeviceSelector } from '#api/resource/v1';
import { CelError, compileDeviceSelector, deviceVariables, isProgram, type Program } from '#cel';
import { Work, WorkError } from '#regexp';
import { programsMax } from '../limits.ts';
import type { KnownDevice } from './devices.ts';

/** Why no device can be looked for at all: an expression fails, a class is gone. The message is for the pod's events. */
export class AllocationError extends Error {}

const programs = new Map<string, Program | { problem: string }>();
const found = new WeakMap<Device, Map<string, boolean | string>>();

function programOf(expression: string): Program | { problem: string } {
  const known = programs.get(expression);
  if (known !== undefined) return known;
  const [oldest] = programs.keys();
  if (programs.size >= programsMax && oldest !== undefined) programs.delete(oldest);
  const made = compileDeviceSelector(expression);
  programs.set(expression, made);
  return made;
}

/** Whether the expression chooses the device, or why it cannot be said. */
function evaluate(program: Program, { device, slice }: KnownDevice): boolean | string {
  try {
    const value = program.evaluate(deviceVariables({ ...device, driver: slice.spec.driver }), { work: new Work() });
    return typeof value === 'boolean' ? value : 'CEL result of type dyn could not be converted to bool';
  } catch (error) {
    if (error instanceof CelError || error instanceof WorkError) return error.message;
    throw error;
  }
}

function verdict(expression: string, known: KnownDevice, whose: string): boolean {
  const program = programOf(expression);
  if (!isProgram(program)) throw new AllocationError(`${whose}: CEL compile error: ${program.problem}`);
  const ofDevice = found.get(known.device) ?? new Map<string, boolean | string>();
  found.set(known.device, ofDevice);
  const answer = ofDevice.get(expression) ?? evaluate(program, known);
  ofDevice.set(expression, answer);
  if (typeof answer === 'string') throw new AllocationError(`${whose}: CEL runtime error: ${answer}`);
  return answer;
}

/** Whether all of them choose the device. `whose` names them in an `AllocationError`: `class gpu`, `claim default/one`. */
export function selectorsMatch(selectors: readonly DeviceSelector[] | undefined, device: KnownDevice, whose: string): boolean {
  return (selectors ?? []).every(({ cel }, index) => {
    const which = `${whose}: selector #${index}`;
    if (cel === undefined) throw new AllocationError(`${which}: CEL expression empty (unsupported selector type?)`);
    return verdict(cel.expression, device, which);
  });
}
