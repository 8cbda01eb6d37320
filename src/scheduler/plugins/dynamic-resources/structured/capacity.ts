// How much of a device's capacity a request takes where several may share the device (KEP-5075). Pure.
import type {
  CapacityRequestPolicy,
  CapacityRequestPolicyRange,
  CapacityRequirements,
  Device,
  DeviceCapacity,
} from '#api/resource/v1';
import { parseQuantity, Quantity } from '#apimachinery/quantity';

export type Consumed = ReadonlyMap<string, Quantity>;

const isAtMost = (a: Quantity, b: Quantity): boolean => a.compare(b) <= 0;

/** The next allowed amount of a range, in whole units. */
function inRange(wanted: Quantity, { min, step }: CapacityRequestPolicyRange): Quantity {
  const least = parseQuantity(min);
  if (wanted.compare(least) < 0) return least;
  if (step === undefined) return wanted;
  const from = least.scaledBigInt(0);
  const width = parseQuantity(step).scaledBigInt(0);
  const over = wanted.scaledBigInt(0) - from;
  const steps = over / width + (over % width === 0n ? 0n : 1n);
  return new Quantity(Number(from + width * steps), 0, 'BinarySI');
}

/** What a request takes of one capacity: what it asks for, rounded up to what the device allows; without a wish the default, or all. */
function consumedOf(wanted: string | undefined, { value, requestPolicy }: DeviceCapacity): Quantity {
  if (wanted === undefined) return parseQuantity(requestPolicy?.default ?? value);
  const asked = parseQuantity(wanted);
  if (requestPolicy?.validRange?.min !== undefined) return inRange(asked, requestPolicy.validRange);
  const allowed = (requestPolicy?.validValues ?? []).map((one) => parseQuantity(one));
  return allowed.find((one) => isAtMost(asked, one)) ?? asked;
}

function isAllowed(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  if (policy === undefined || (policy.default && parseQuantity(policy.default).equals(amount))) return true;
  const { validRange, validValues = [] } = policy;
  if (validRange !== undefined) {
    if (validRange.max !== undefined && !isAtMost(amount, parseQuantity(validRange.max))) return false;
    if (validRange.step === undefined) return true;
    return (
      (amount.scaledBigInt(0) - parseQuantity(validRange.min).scaledBigInt(0)) %
        parseQuantity(validRange.step).scaledBigInt(0) ===
      0n
    );
  }
  return validValues.length === 0 || validValues.some((one) => parseQuantity(one).equals(amount));
}

/** What a request takes of a device, or undefined where the device cannot give it beside what others have taken. */
export function consume(device: Device, wish: CapacityRequirements | undefined, taken: Consumed): Consumed | undefined {
  const capacity = device.capacity ?? {};
  const requests = wish?.requests ?? {};
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined;
  const consumed = new Map<string, Quantity>();
  for (const [name, one] of Object.entries(capacity)) {
    const amount = consumedOf(Object.hasOwn(requests, name) ? requests[name] : undefined, one);
    if (!isAllowed(amount, one.requestPolicy)) return undefined;
    const before = taken.get(name);
    const sum = before === undefined ? amount : before.add(amount);
    if (!isAtMost(sum, parseQuantity(one.value))) return undefined;
    consumed.set(name, amount);
  }
  return consumed;
}

/** The sum of two amounts taken of one device, capacity by capacity. */
export function addConsumed(a: Consumed | undefined, b: Consumed): Consumed {
  const sum = new Map(a ?? []);
  for (const [name, amount] of b) sum.set(name, sum.get(name)?.add(amount) ?? amount);
  return sum;
}
