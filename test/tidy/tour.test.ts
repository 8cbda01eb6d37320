// Holds docs/tour.md to the tree: each file that a walk names is there, and the first walk says how many files it names.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tour = readFileSync(join(root, 'docs', 'tour.md'), 'utf8');
const sources = ['src', 'bench'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
);

/** The paths that `a/{b,c}.ts` stands for. */
const expanded = (path: string): string[] => {
  const [, before = '', inside, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return inside === undefined ? [path] : inside.split(',').map((one) => `${before}${one}${after}`);
};

const filesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/`([\w./{},-]+\.(?:ts|mjs))`/g)].flatMap(([, path = '']) => expanded(path))),
];

/** Files by the end of their path, as the tour shortens the paths of one room. */
const missing = (paths: readonly string[]): string[] =>
  paths.filter((path) => !sources.some((source) => `/${source}`.endsWith(`/${path}`)));

const tableOf = (heading: string): string =>
  (tour.split(/^## /m).find((part) => part.startsWith(heading)) ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .join('\n');

describe('docs/tour.md', () => {
  it('names files that are there', () => {
    const named = filesIn(tour);
    expect(named.length).toBeGreaterThan(60);
    expect(missing(named)).toEqual([]);
    expect(missing(['wire/server/no-such-file.ts'])).toEqual(['wire/server/no-such-file.ts']);
  });

  it('says how many files the walk of a Pod create opens', () => {
    const folder = 'api/core/pod';
    expect(existsSync(join(root, 'src', folder))).toBe(true);
    const table = tableOf('A Pod create');
    expect(table).toContain(`\`${folder}\``);
    expect(tour).toContain(`The table names ${filesIn(table).length + 1},`);
  });
});
