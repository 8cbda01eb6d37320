// Text of others on a terminal: what could move its cursor, set its title or rewrite what stands above is shown instead of being sent.

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const betweenLines = /[\0-\x08\x0B-\x1F\x7F-\x9F]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const anywhere = /[\0-\x1F\x7F-\x9F]/g;

const shown = (char: string): string => {
  const code = char.charCodeAt(0);
  return code < 0x20 ? `^${String.fromCharCode(code + 0x40)}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

/** `text` with its control characters, but for tabs and ends of lines, as `^[` and `\u009b`. JSON in it keeps its meaning. */
export const visible = (text: string): string => text.replace(betweenLines, shown);

/** Makes a text visible as `visible` does, and ends of lines and tabs, too. */
export const visibleInLine = (text: string): string => text.replace(anywhere, shown);
