// The end of a text cut off. The pattern `/x+$/` does the same, and looks at a long row of x again from each of its places where the row is not at the end.

/** The text without the `char` that it ends with, however often. */
export function withoutTrailing(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
