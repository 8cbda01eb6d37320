// A string as Go's %q prints it (strconv.Quote): upstream's messages quote names and values this way, and ours must read the same.

const plain = /^[ !#-[\]-~]*$/;
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
/** Whether a single character prints, as Go's unicode.IsPrint says. */
export const isPrint = (char: string): boolean => printable.test(char);

const short: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

const hex = (code: number, width: number): string => code.toString(16).padStart(width, '0');

function escape(char: string): string {
  const known = short[char];
  if (known !== undefined) return known;
  if (isPrint(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

/** `text` in double quotes, with what does not print escaped. */
export function quote(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const char of text) quoted += escape(char);
  return `${quoted}"`;
}
