// A field that holds a number or a string such as "50%" (k8s.io/apimachinery/pkg/util/intstr). In JSON it is simply one or the other.

export type IntOrString = number | string;

/** The number of a percent string ("50%" is 50), or undefined for anything else. */
export function percentOf(value: IntOrString | undefined): number | undefined {
  if (typeof value !== 'string' || !value.endsWith('%')) return undefined;
  const digits = value.slice(0, -1);
  return /^[+-]?\d+$/.test(digits) ? Number(digits) : undefined;
}

/**
 * A number as it is, or a percentage of `total` rounded up or down. Throws a plain Error with upstream's text for a string that is no
 * percentage: callers validated the object before.
 */
export function scaledValue(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  const percent = percentOf(value);
  if (percent === undefined) throw new Error(scaleProblem(value));
  const scaled = (percent * total) / 100;
  return roundUp ? Math.ceil(scaled) : Math.floor(scaled);
}

const scaleProblem = (value: string): string =>
  value.endsWith('%')
    ? `invalid value for IntOrString: invalid value ${JSON.stringify(value)}: strconv.Atoi: parsing ${JSON.stringify(value.slice(0, -1))}: invalid syntax`
    : 'invalid value for IntOrString: invalid type: string is not a percentage';

/** The integer: a number itself, a numeric string parsed, anything else 0. */
export function intValue(value: IntOrString): number {
  if (typeof value === 'number') return value;
  return /^[+-]?\d+$/.test(value) ? Number(value) : 0;
}

/** The text of the value: `5`, or the string itself. */
export const intOrStringText = (value: IntOrString): string => String(value);

/** What a command line means by `text`: a number where it is one (within int32), else the string. */
export function parseIntOrString(text: string): IntOrString {
  if (!/^[+-]?\d+$/.test(text)) return text;
  const number = Number(text);
  return number > 2147483647 || number < -2147483648 ? text : number;
}
