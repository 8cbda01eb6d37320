// Directives, tags and anchors of a YAML text.
import { type Cursor, isBlank, isBlankOrEnd, isBreakOrEnd, isWord } from './yaml-cursor.ts';
import { scannerError } from './yaml-errors.ts';

function words(cursor: Cursor): string {
  const start = cursor.at;
  while (isWord(cursor.code())) cursor.at++;
  return cursor.text.slice(start, cursor.at);
}

/** The name behind `&` or `*`, which the cursor stands at. */
export function anchorName(cursor: Cursor): string {
  cursor.at++;
  const name = words(cursor);
  if (name === '' || !(isBlankOrEnd(cursor.code()) || '?:,]}%@`'.includes(cursor.text[cursor.at] as string)))
    throw scannerError(cursor, 'did not find expected alphabetic or numeric character');
  return name;
}

export interface Tag {
  /** '!', '!!' or '!name!'; '' for a whole tag in `suffix`. */
  handle: string;
  suffix: string;
}

/** The tag that the cursor stands at. */
export function tagAt(cursor: Cursor): Tag {
  let tag: Tag;
  if (cursor.code(1) === 60) {
    cursor.at += 2;
    tag = { handle: '', suffix: tagUri(cursor, '') };
    if (cursor.code() !== 62) throw scannerError(cursor, "did not find the expected '>'");
    cursor.at++;
  } else {
    const handle = tagHandle(cursor, false);
    if (handle.length > 1 && handle.endsWith('!')) tag = { handle, suffix: tagUri(cursor, '') };
    else {
      const suffix = tagUri(cursor, handle);
      tag = suffix === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix };
    }
  }
  if (!isBlankOrEnd(cursor.code())) throw scannerError(cursor, 'did not find expected whitespace or line break');
  return tag;
}

function tagHandle(cursor: Cursor, inDirective: boolean): string {
  if (cursor.code() !== 33) throw scannerError(cursor, "did not find expected '!'");
  cursor.at++;
  const name = words(cursor);
  if (cursor.code() === 33) {
    cursor.at++;
    return `!${name}!`;
  }
  if (inDirective && name !== '') throw scannerError(cursor, "did not find expected '!'");
  return `!${name}`;
}

const uriCharacters = /[A-Za-z0-9_\-;/?:@&=+$,.!~*'()[\]%]*/y;

/** `head`: what was read as a handle and turned out to be the start of the tag. */
function tagUri(cursor: Cursor, head: string): string {
  uriCharacters.lastIndex = cursor.at;
  const [found = ''] = uriCharacters.exec(cursor.text) ?? [];
  if (found === '' && head === '') throw scannerError(cursor, 'did not find expected tag URI');
  cursor.at += found.length;
  try {
    return head.slice(1) + (found.includes('%') ? decodeURIComponent(found) : found);
  } catch {
    throw scannerError(cursor, 'did not find URI escaped octet');
  }
}

/** A directive of YAML: the version (`isKnown` where it is 1.1), or a handle and what it stands for. */
export type Directive = { isKnown: boolean } | { handle: string; prefix: string };

/** The directive that the cursor stands at, with its line break. */
export function directiveAt(cursor: Cursor): Directive {
  cursor.at++;
  const name = words(cursor);
  if (name === '') throw scannerError(cursor, 'could not find expected directive name');
  if (!isBlankOrEnd(cursor.code())) throw scannerError(cursor, 'found unexpected non-alphabetical character');
  if (name !== 'YAML' && name !== 'TAG') throw scannerError(cursor, 'found unknown directive name');
  const directive = name === 'YAML' ? version(cursor) : tagDirective(cursor);
  cursor.passBlanks();
  cursor.passComment();
  if (!isBreakOrEnd(cursor.code())) throw scannerError(cursor, 'did not find expected comment or line break');
  if (!cursor.isAtEnd) cursor.passBreak();
  return directive;
}

function version(cursor: Cursor): Directive {
  cursor.passBlanks();
  const major = versionNumber(cursor);
  if (cursor.code() !== 46) throw scannerError(cursor, "did not find expected digit or '.' character");
  cursor.at++;
  const minor = versionNumber(cursor);
  return { isKnown: major === 1 && minor === 1 };
}

function versionNumber(cursor: Cursor): number {
  const start = cursor.at;
  for (let code = cursor.code(); code >= 48 && code <= 57; code = cursor.code()) {
    if (cursor.at - start === 2) throw scannerError(cursor, 'found extremely long version number');
    cursor.at++;
  }
  if (cursor.at === start) throw scannerError(cursor, 'did not find expected version number');
  return Number(cursor.text.slice(start, cursor.at));
}

function tagDirective(cursor: Cursor): Directive {
  cursor.passBlanks();
  const handle = tagHandle(cursor, true);
  if (!isBlank(cursor.code())) throw scannerError(cursor, 'did not find expected whitespace');
  cursor.passBlanks();
  const prefix = tagUri(cursor, '');
  if (!isBlankOrEnd(cursor.code())) throw scannerError(cursor, 'did not find expected whitespace or line break');
  return { handle, prefix };
}
