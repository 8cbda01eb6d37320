import { expect, it } from 'vitest';
import { visible, visibleInLine } from './visible.ts';

it('whatever a text has in it, no terminal takes it for an order', () => {
  expect(visible('\u001b[2J\u001b]0;mine\u0007\r\u009b31m\u007fok\tyes\n')).toBe('^[[2J^[]0;mine^G^M\\u009b31m\\u007fok\tyes\n');
  expect(visibleInLine('a\nb\tc')).toBe('a^Jb^Ic');
  for (let code = 0; code < 0x100; code++) {
    const kept = visibleInLine(String.fromCharCode(code));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(kept).not.toMatch(/[\0-\x1f\x7f-\x9f]/);
  }
});

it('JSON keeps its meaning', () => {
  const value = { a: '\u009b\u007f\u001b\n' };
  expect(JSON.parse(visible(JSON.stringify(value, null, 2)))).toEqual(value);
});
