// The instructions of programs, as the compiler numbers them.

/** The kinds of instructions, as the compiler numbers them. */
export const op = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  anyNotNewline: 11,
};

/** What an empty-width instruction asks of its place. */
export const place = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 };
