// A copy of the sources in which a test follows a recipe of docs/contributing.md: one room copied, every other one linked, and the files changed
// that the recipe names.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of a new file, or what becomes of the text of an old one. */
export type Edit = string | ((text: string) => string);

export interface Tree {
  /** Imports a module of the room from the copy. `path` is below the room. */
  load<Module>(path: string): Promise<Module>;
  remove(): void;
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

/** `edits` are by path below the room. */
export function treeWith(room: string, edits: Readonly<Record<string, Edit>>): Tree {
  const root = mkdtempSync(join(tmpdir(), 'sagong-recipe-'));
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
    writeFileSync(file, typeof edit === 'string' ? edit : edit(readFileSync(file, 'utf8')));
  }
  return {
    load: (path) => import(/* @vite-ignore */ join(copy, path)),
    remove: () => rmSync(root, { recursive: true }),
  };
}
