// What a plain YAML scalar means, as upstream's YAML library resolves it: YAML 1.1 booleans and number bases, no sexagesimal numbers, times
// stay text (sigs.k8s.io/yaml over go-yaml v2).

/** The types of YAML's scalars. A 'timestamp' is text that must be quoted when it is written. */
export type ScalarTag = 'str' | 'bool' | 'null' | 'int' | 'float' | 'timestamp';

export interface Resolved {
  tag: ScalarTag;
  value: string | number | boolean | null;
}

const words = new Map<string, Resolved>();
const spellings = (word: string): string[] => [word, `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, word.toUpperCase()];
for (const word of ['y', 'yes', 'true', 'on']) for (const text of spellings(word)) words.set(text, { tag: 'bool', value: true });
for (const word of ['n', 'no', 'false', 'off'])
  for (const text of spellings(word)) words.set(text, { tag: 'bool', value: false });
for (const text of ['', '~', ...spellings('null')]) words.set(text, { tag: 'null', value: null });
for (const text of ['.nan', '.NaN', '.NAN']) words.set(text, { tag: 'float', value: Number.NaN });
for (const text of ['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'])
  words.set(text, { tag: 'float', value: Number.POSITIVE_INFINITY });
for (const text of ['-.inf', '-.Inf', '-.INF']) words.set(text, { tag: 'float', value: Number.NEGATIVE_INFINITY });

const timestamp = /^\d{4}-\d\d?-\d\d?(?:[Tt]\d\d?:\d\d?:\d\d?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|[ ]\d\d?:\d\d?:\d\d?(?:\.\d+)?)?$/;
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/;

const shortInteger = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** A number with more decimal digits than this is out of range, and is not computed. */
const decimalDigitsMax = 20;
const wholeOf = (decimal: string): bigint => (decimal.length > decimalDigitsMax ? 2n ** 64n : BigInt(decimal));

function resolveInteger(plain: string): number | undefined {
  if (shortInteger.test(plain)) return Number(plain);
  const [, sign = '', hex, binary, octal, decimal] = integer.exec(plain) ?? [];
  const magnitude =
    hex !== undefined
      ? BigInt(`0x${hex}`)
      : binary !== undefined
        ? BigInt(`0b${binary}`)
        : octal !== undefined
          ? BigInt(`0o${octal}`)
          : decimal !== undefined
            ? wholeOf(decimal)
            : undefined;
  if (magnitude === undefined) return undefined;
  const fits = sign === '-' ? magnitude <= 2n ** 63n : magnitude < 2n ** 64n;
  return fits ? Number(sign === '-' ? -magnitude : magnitude) : undefined;
}

/** The meaning of an unquoted scalar without a tag. */
export function resolveScalar(text: string): Resolved {
  const known = words.get(text);
  if (known !== undefined) return known;
  const first = text.charCodeAt(0);
  const isDigit = first >= 48 && first <= 57;
  if (text.startsWith('.')) return resolveFloat(text, text);
  if (!isDigit && !text.startsWith('+') && !text.startsWith('-')) return { tag: 'str', value: text };
  if (timestamp.test(text)) return { tag: 'timestamp', value: text };
  const plain = text.replaceAll('_', '');
  const whole = resolveInteger(plain);
  if (whole !== undefined) return { tag: 'int', value: whole };
  return resolveFloat(text, plain);
}

/** A number too large for a float is text. */
function resolveFloat(text: string, plain: string): Resolved {
  const value = float.test(plain) ? Number(plain) : Number.POSITIVE_INFINITY;
  return Number.isFinite(value) ? { tag: 'float', value } : { tag: 'str', value: text };
}

/** A number as a key: the shortest text of the nearest 32-bit float, as Go's %g prints it. */
export function float32Text(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf';
  const single = Math.fround(value);
  let digits = 1;
  while (digits < 9 && Math.fround(Number(single.toPrecision(digits))) !== single) digits++;
  const [mantissa = '', exponent = '0'] = single.toExponential(digits - 1).split('e');
  const power = Number(exponent);
  const sign = Object.is(single, -0) ? '-' : '';
  if (power >= -4 && power < 6) return sign + String(Number(single.toPrecision(digits)));
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
