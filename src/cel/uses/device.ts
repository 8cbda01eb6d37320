// Selectors of devices (k8s.io/dynamic-resource-allocation/cel).
import type { Work } from '#regexp';
import { selectorCostMax } from '../limits.ts';
import { quantityValue, readQuantity, readVersion, versionValue } from '../library/kubernetes.ts';
import { compile, environmentOf, isProgram, type Program } from '../program.ts';
import type { Sized } from '../schema/sizes.ts';
import { MapValue, type Value } from '../values/values.ts';
import { isDyn, map, type ObjectType, opaque, string, bool, dyn, type Type, typeText } from '../types.ts';

const fields: Record<string, Type> = {
  driver: string,
  attributes: map(string, map(string, dyn)),
  capacity: map(string, map(string, opaque('kubernetes.Quantity'))),
  allowMultipleAllocations: bool,
};

/** The type of the variable `device`. */
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

/** What a selector looks at (resource.k8s.io Device), with names as they are published. */
export interface SelectableDevice {
  driver: string;
  attributes?: Readonly<Record<string, { int?: number; bool?: boolean; string?: string; version?: string }>>;
  capacity?: Readonly<Record<string, { value: string }>>;
  allowMultipleAllocations?: boolean;
}

const nothing = new MapValue(new Map());

/** Attributes of a domain, of which there may be none. */
class ByDomain extends MapValue {
  override get(key: Value): Value | undefined {
    return super.get(key) ?? (typeof key === 'string' ? nothing : undefined);
  }
}

/** Sorts by domain; a name without one is of the driver's. */
function byDomain<T>(driver: string, named: Readonly<Record<string, T>>, value: (one: T) => Value): MapValue {
  const domains = new Map<string, Map<string, Value>>();
  for (const [name, one] of Object.entries(named)) {
    const slash = name.indexOf('/');
    const of = slash < 0 ? driver : name.slice(0, slash);
    domains.set(of, (domains.get(of) ?? new Map<string, Value>()).set(name.slice(slash + 1), value(one)));
  }
  return new ByDomain(new Map([...domains].map(([name, values]) => [name, new MapValue(values)])));
}

function attributeValue({
  int,
  bool: flag,
  string: text,
  version,
}: {
  int?: number;
  bool?: boolean;
  string?: string;
  version?: string;
}): Value {
  if (int !== undefined) return BigInt(int);
  return flag ?? text ?? (version === undefined ? null : versionValue(readVersion(version)));
}

/** The variables of a selector for a device. Throws `CelError` for a version or a quantity that cannot be read. */
export function deviceVariables(device: SelectableDevice): ReadonlyMap<string, Value> {
  const { driver, attributes: attributesOf = {}, capacity: capacityOf = {}, allowMultipleAllocations = false } = device;
  const members = new Map<string, Value>([
    ['driver', driver],
    ['allowMultipleAllocations', allowMultipleAllocations],
    ['attributes', byDomain(driver, attributesOf, attributeValue)],
    ['capacity', byDomain(driver, capacityOf, ({ value }) => quantityValue(readQuantity(value)))],
  ]);
  return new Map([['device', new MapValue(members)]]);
}
