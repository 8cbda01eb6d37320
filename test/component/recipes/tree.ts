// A copy of the sources in which a test follows a recipe of docs/contributing.md: one room copied, every other one linked, and the files changed
// that the recipe names. What a recipe writes has to keep the rules that test/tidy holds the tree to.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { impurities, importProblem, specifiersOf } from '../../../scripts/lint/room-imports.mjs';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of a new file, or what becomes of the text of an old one. */
export type Edit = string | ((text: string) => string);

export interface Tree {
  /** Imports a module of the room from the copy. `path` is below the room. */
  load<Module>(path: string): Promise<Module>;
}

/** Changes one place of a text. Throws an Error when the place is not there: the recipe would be out of date. */
export const replacing =
  (place: string | RegExp, by: string) =>
  (text: string): string => {
    const changed = text.replace(place, by);
    if (changed === text) throw new Error(`the recipe finds no ${String(place)}`);
    return changed;
  };

/** An import as the first one of a file, and other edits. */
export const importing =
  (line: string, ...others: ((text: string) => string)[]) =>
  (text: string): string =>
    others.reduce((now, edit) => edit(now), replacing(/^import /m, `${line}\nimport `)(text));

/** Throws an Error where a file, by its path below `src`, breaks a rule of rooms or of pure code. */
function assertRules(file: string, text: string): void {
  const problems = [
    ...specifiersOf(text).flatMap((specifier) => importProblem(file, specifier, text) ?? []),
    ...impurities(file, text).map(([line, why]) => `${line}: ${why}`),
  ];
  if (problems.length > 0) throw new Error(`the recipe breaks rules in ${file}: ${problems.join('; ')}`);
}

function writeTree(root: string, room: string, edits: Readonly<Record<string, Edit>>): void {
  const copy = join(root, 'src', room);
  mkdirSync(join(root, 'src'));
  for (const name of readdirSync(join(checkout, 'src'))) {
    if (name === room) cpSync(join(checkout, 'src', name), copy, { recursive: true });
    else symlinkSync(join(checkout, 'src', name), join(root, 'src', name));
  }
  cpSync(join(checkout, 'package.json'), join(root, 'package.json'));
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
  for (const [path, edit] of Object.entries(edits)) {
    const file = join(copy, path);
    mkdirSync(dirname(file), { recursive: true });
    const text = typeof edit === 'string' ? edit : edit(readFileSync(file, 'utf8'));
    assertRules(join(room, path), text);
    writeFileSync(file, text);
  }
}

/** A tree for the tests of the calling file: it is made before the first of them and removed after the last. `edits` are by path below the room. */
export function treeWith(room: string, edits: Readonly<Record<string, Edit>>): Tree {
  let root = '';
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'sagong-recipe-'));
    writeTree(root, room, edits);
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return { load: (path) => import(/* @vite-ignore */ join(root, 'src', room, path)) };
}
