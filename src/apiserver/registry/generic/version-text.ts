// Resource versions as clients write them: what is no number of 64 bits is refused in the words of Go's strconv.
import { plainError } from '#apimachinery/errors';
import { quote } from '#utils';

/** Nothing that is longer is a number of 64 bits. */
const digitsMax = 20;

/** Why a text is no resource version; undefined: it is one. */
export function whyNoVersion(text: string): string | undefined {
  const problem = (why: string): string => `strconv.ParseUint: parsing ${quote(text)}: ${why}`;
  if (!/^\d+$/.test(text)) return problem('invalid syntax');
  const digits = text.replace(/^0+/, '');
  return digits.length > digitsMax || BigInt(digits || '0') >= 2n ** 64n ? problem('value out of range') : undefined;
}

/** Throws a bare 500, as upstream's storage, where an object carries what is no version. */
export function checkVersionText(given = ''): void {
  const why = given === '' ? undefined : whyNoVersion(given);
  if (why !== undefined) throw plainError(why);
}
