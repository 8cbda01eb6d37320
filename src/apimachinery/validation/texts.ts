// The sentences that validation messages are made of (k8s.io/apimachinery/pkg/util/validation and api/validate/content).

const ascii = /^[ -~\t\r\n]*$/;

/** The length of a text in UTF-8 bytes, which upstream's limits count. */
export function byteLength(text: string): number {
  if (ascii.test(text)) return text.length;
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** What is said of a name that is longer than it may be. */
export const maxLenError = (length: number): string => `must be no more than ${length} characters`;

/** The message about a text that is too long, as newer checks (label keys and values) word it. */
export const maxBytesError = (length: number): string => `must be no more than ${length} bytes`;

export const emptyError = 'must be non-empty';

export const inclusiveRangeError = (low: number, high: number): string => `must be between ${low} and ${high}, inclusive`;

export const negativeError = 'must be greater than or equal to 0';

export const immutableError = 'field is immutable';

/** A failed pattern, with examples and the pattern itself. */
export function regexError(message: string, pattern: string, ...examples: string[]): string {
  const rule = `regex used for validation is '${pattern}')`;
  if (examples.length === 0) return `${message} (${rule}`;
  return `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}${rule}`;
}
