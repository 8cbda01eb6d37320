// Quantities, versions and named formats (k8s.io/apiserver/pkg/cel/library: quantity, semver, format, jsonpatch).
import { parseQuantity, type Quantity, QuantityError, quantityOf } from '#apimachinery/quantity';
import {
  isDNS1035Label,
  isDNS1123Label,
  isDNS1123Subdomain,
  isLabelValue,
  isQualifiedName,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
} from '#apimachinery/validation';
import { patternCost, textCost } from '../run/call-costs.ts';
import { global, member } from '../check/environment.ts';
import { CelError } from '../errors.ts';
import { readTextCharsMax } from '../limits.ts';
import { spendWork } from '../meter.ts';
import { bool, double, int, list, opaque, optional, string } from '../types.ts';
import { ListValue, OpaqueValue, Optional } from '../values/values.ts';

const quantityType = opaque('kubernetes.Quantity');
const semverType = opaque('kubernetes.Semver');
const formatType = opaque('kubernetes.NamedFormat');

export function readQuantity(text: string): Quantity {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) throw new CelError(error.message);
    throw error;
  }
}

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

export const quantityValue = (quantity: Quantity): OpaqueValue =>
  new OpaqueValue('kubernetes.Quantity', quantity, (other) => quantity.compare(other as Quantity) === 0);
const q = ({ content }: OpaqueValue): Quantity => content as Quantity;

function integerOf(quantity: Quantity): bigint {
  if (!quantity.isExactAt(0)) throw new CelError('cannot convert value to integer');
  const value = quantity.scaledBigInt(0);
  if (value < -(2n ** 63n) || value >= 2n ** 63n) throw new CelError('cannot convert value to integer');
  return value;
}

const wholeQuantity = (value: bigint): Quantity => quantityOf(Number(value));

const quantities = [
  global('quantity', [string], quantityType, (text: string) => quantityValue(readQuantity(text)), textCost),
  global('isQuantity', [string], bool, (text: string) => succeeds(() => readQuantity(text)), textCost),
  member('sign', [quantityType], int, (one: OpaqueValue) => BigInt(q(one).sign)),
  member('isGreaterThan', [quantityType, quantityType], bool, (one: OpaqueValue, two: OpaqueValue) => q(one).compare(q(two)) > 0),
  member('isLessThan', [quantityType, quantityType], bool, (one: OpaqueValue, two: OpaqueValue) => q(one).compare(q(two)) < 0),
  member('compareTo', [quantityType, quantityType], int, (one: OpaqueValue, two: OpaqueValue) => BigInt(q(one).compare(q(two)))),
  member('asApproximateFloat', [quantityType], double, (one: OpaqueValue) => q(one).toNumber()),
  member('asInteger', [quantityType], int, (one: OpaqueValue) => integerOf(q(one))),
  member('isInteger', [quantityType], bool, (one: OpaqueValue) => succeeds(() => integerOf(q(one)))),
  member('add', [quantityType, quantityType], quantityType, (one: OpaqueValue, two: OpaqueValue) =>
    quantityValue(q(one).add(q(two))),
  ),
  member('add', [quantityType, int], quantityType, (one: OpaqueValue, two: bigint) =>
    quantityValue(q(one).add(wholeQuantity(two))),
  ),
  member('sub', [quantityType, quantityType], quantityType, (one: OpaqueValue, two: OpaqueValue) =>
    quantityValue(q(one).sub(q(two))),
  ),
  member('sub', [quantityType, int], quantityType, (one: OpaqueValue, two: bigint) =>
    quantityValue(q(one).sub(wholeQuantity(two))),
  ),
];

interface Version {
  numbers: [bigint, bigint, bigint];
  pre: string[];
}

const versionPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** `lenient`: a leading v, missing parts and leading zeros are mended. */
export function readVersion(given: string, lenient = false): Version {
  const text = given.length > readTextCharsMax ? '' : lenient ? mended(given) : given;
  const match = versionPattern.exec(text);
  if (!match) throw new CelError(`Invalid semantic version: ${given}`);
  const [, major = '0', minor = '0', patch = '0', pre] = match;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], pre: pre === undefined ? [] : pre.split('.') };
}

function mended(given: string): string {
  const [, core = '', rest = ''] = /^v?([\d.]*)(.*)$/.exec(given) ?? [];
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3) parts.push('0');
  return parts.join('.') + rest;
}

function comparePre(one: readonly string[], two: readonly string[]): number {
  if (one.length === 0 || two.length === 0) return two.length === one.length ? 0 : one.length === 0 ? 1 : -1;
  for (let index = 0; index < Math.max(one.length, two.length); index++) {
    const [left, right] = [one[index], two[index]];
    if (left === right) continue;
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    const [leftNumber, rightNumber] = [left, right].map((part) => /^\d+$/.test(part));
    if (leftNumber && rightNumber) return BigInt(left) < BigInt(right) ? -1 : 1;
    if (leftNumber !== rightNumber) return leftNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}

function compareVersions(one: Version, two: Version): number {
  for (const index of [0, 1, 2] as const)
    if (one.numbers[index] !== two.numbers[index]) return one.numbers[index] < two.numbers[index] ? -1 : 1;
  return comparePre(one.pre, two.pre);
}

const v = ({ content }: OpaqueValue): Version => content as Version;
export const versionValue = (version: Version): OpaqueValue =>
  new OpaqueValue('kubernetes.Semver', version, (other) => compareVersions(version, other as Version) === 0);

const versions = [
  global('semver', [string], semverType, (text: string) => versionValue(readVersion(text)), textCost),
  global(
    'semver',
    [string, bool],
    semverType,
    (text: string, lenient: boolean) => versionValue(readVersion(text, lenient)),
    textCost,
  ),
  global('isSemver', [string], bool, (text: string) => succeeds(() => readVersion(text)), textCost),
  global(
    'isSemver',
    [string, bool],
    bool,
    (text: string, lenient: boolean) => succeeds(() => readVersion(text, lenient)),
    textCost,
  ),
  member(
    'isGreaterThan',
    [semverType, semverType],
    bool,
    (one: OpaqueValue, two: OpaqueValue) => compareVersions(v(one), v(two)) > 0,
  ),
  member(
    'isLessThan',
    [semverType, semverType],
    bool,
    (one: OpaqueValue, two: OpaqueValue) => compareVersions(v(one), v(two)) < 0,
  ),
  member('compareTo', [semverType, semverType], int, (one: OpaqueValue, two: OpaqueValue) =>
    BigInt(compareVersions(v(one), v(two))),
  ),
  ...(['major', 'minor', 'patch'] as const).map((name, index) =>
    member(name, [semverType], int, (one: OpaqueValue) => v(one).numbers[index as 0 | 1 | 2]),
  ),
];

type Check = (text: string) => string[];
const fits =
  (pattern: RegExp, problem: string): Check =>
  (text) =>
    pattern.test(text) ? [] : [problem];

/** Formats by name: what is wrong with a text. */
const formats: Record<string, Check> = {
  dns1123Label: isDNS1123Label,
  dns1123Subdomain: isDNS1123Subdomain,
  dns1035Label: isDNS1035Label,
  qualifiedName: isQualifiedName,
  dns1123LabelPrefix: (text) => nameIsDNSLabel(text, true),
  dns1123SubdomainPrefix: (text) => nameIsDNSSubdomain(text, true),
  dns1035LabelPrefix: (text) => nameIsDNS1035Label(text, true),
  labelValue: isLabelValue,
  uri: fits(/^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|\/)\S*$/, 'invalid URI for request'),
  uuid: fits(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i, 'does not match the UUID format'),
  byte: fits(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'invalid base64'),
  date: fits(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/, 'invalid date'),
  datetime: fits(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/, 'invalid datetime'),
};

/** Upstream does not know how long the pattern behind a format is. */
const longRegex = ' '.repeat(128);

const formatValue = (name: string): OpaqueValue => new OpaqueValue('kubernetes.NamedFormat', name);

const namedFormats = [
  ...Object.keys(formats).map((name) => global(`format.${name}`, [], formatType, () => formatValue(name))),
  global('format.named', [string], optional(formatType), (name: string) =>
    Object.hasOwn(formats, name) ? new Optional(formatValue(name)) : new Optional(),
  ),
  member(
    'validate',
    [formatType, string],
    optional(list(string)),
    ({ content }: OpaqueValue, text: string) => {
      spendWork(text.length);
      const problems = formats[String(content)]?.(text) ?? [];
      return problems.length === 0 ? new Optional() : new Optional(new ListValue(problems));
    },
    (_: OpaqueValue, text: string) => patternCost(text, longRegex),
  ),
];

/** The functions that exist only where expressions make patches. */
export const jsonPatchFunctions = [
  global('jsonpatch.escapeKey', [string], string, (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')),
];

export const kubernetesFunctions = [...quantities, ...versions, ...namedFormats];
