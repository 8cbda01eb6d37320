// docs/clouds.md says what each provider does, cell by cell; this holds every cell to a test that exists under the name it gives.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const page = fileURLToPath(new URL('../../docs/clouds.md', import.meta.url));
const text = readFileSync(page, 'utf8');
const proofs = new Map(
  [...text.matchAll(/^\[([^\]]+)\]: (\S+) "(.+)"$/gm)].map(([, id = '', path = '', name = '']) => [id, { path, name }]),
);
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| |'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const cells = rows.flatMap(([feature = '', ...vendors]) =>
  vendors.map((cell, index) => ({ at: `${feature}, ${index + 1}`, cell })),
);
const linksIn = (cell: string): string[] => [...cell.matchAll(/\[[^\]]+\]\[([^\]]+)\]/g)].map(([, id = '']) => id);

describe('the table of clouds', () => {
  it('has a proof or a reason in every cell', () => {
    expect(cells.length).toBeGreaterThan(80);
    const bare = cells.filter(({ cell }) => linksIn(cell).length === 0 && !/^not yet: .+/.test(cell));
    const unexplained = cells.filter(({ cell }) => /^\[no\]\[[^\]]+\]$/.test(cell));
    expect({ bare, unexplained }).toEqual({ bare: [], unexplained: [] });
  });
  it('has as many cells in every row', () => {
    expect(new Set(rows.map(({ length }) => length)).size).toBe(1);
  });
  it('names tests that exist, one each: groups of tests only for whole suites', () => {
    const wrong = [...proofs].filter(([id, { path, name }]) => {
      const file = join(dirname(page), path);
      const source = existsSync(file) ? readFileSync(file, 'utf8') : '';
      const isSuite = /-(conformance|flaky)$/.test(id);
      const places = ["'", '"', '`'].flatMap((quote) => source.split(`${quote}${name}${quote}`).slice(0, -1));
      const isTest = (before: string): boolean => {
        const line = before.slice(before.lastIndexOf('\n') + 1);
        return !/^\s*(\/\/|\*)/.test(line) && (isSuite || !/\bdescribe(\.\w+|\([^()]*\))*\(\s*$/.test(before));
      };
      return !places.some((_, index) => isTest(places.slice(0, index + 1).join(name)));
    });
    expect(wrong).toEqual([]);
  });
  it('says how many cells stand on tests that need Python', () => {
    const needs = cells.filter(({ cell }) => linksIn(cell).some((id) => proofs.get(id)?.path.includes('/test/interop/aws-')));
    expect(text).toContain(`${needs.length} cells of AWS lead to \`test/interop\``);
    const elsewhere = cells.filter(({ cell }) => linksIn(cell).some((id) => proofs.get(id)?.path.includes('/test/interop/')));
    expect(elsewhere).toEqual(needs);
  });
  it('gives every proof, and uses every one that it gives', () => {
    const used = new Set(cells.flatMap(({ cell }) => linksIn(cell)));
    expect([...used].filter((id) => !proofs.has(id))).toEqual([]);
    expect([...proofs.keys()].filter((id) => !used.has(id))).toEqual([]);
  });
});
