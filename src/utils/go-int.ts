// Whole numbers as Go's strconv.ParseInt reads them: annotations hold int64 values that a JavaScript number cannot.

/** No int64 has more digits. */
const digitsMax = 19;

/** The value of a decimal text that fits into a signed integer of `bits`; undefined: Go refuses the text. */
export function parseGoInt(text: string, bits: 32 | 64): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const [, sign = '', digits = ''] = /^([+-]?)0*(\d*)$/.exec(text) ?? [];
  if (digits.length > digitsMax) return undefined;
  const value = BigInt(`${sign === '-' ? '-' : ''}${digits || '0'}`);
  return BigInt.asIntN(bits, value) === value ? value : undefined;
}
