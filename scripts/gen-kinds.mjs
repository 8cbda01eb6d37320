// Writes src/api/kinds.gen.ts: the list of kinds is the list of folders `src/api/<group>/<kind>/` whose index.ts declares one with
// `defineKind`. `node scripts/gen-kinds.mjs [folder of the API]`; test/kinds fails when the list is stale.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const declaration = /^export const (\w+) = defineKind\b/m;

const foldersOf = (path) =>
  readdirSync(path)
    .filter((name) => statSync(join(path, name)).isDirectory())
    .sort();

/** The text of kinds.gen.ts for the API in a folder. */
export function kindsModule(api) {
  const found = foldersOf(api).flatMap((group) =>
    foldersOf(join(api, group)).flatMap((kind) => {
      const path = `${group}/${kind}/index.ts`;
      const [, name] = existsSync(join(api, path)) ? (declaration.exec(readFileSync(join(api, path), 'utf8')) ?? []) : [];
      return name === undefined ? [] : [{ path, name }];
    }),
  );
  return `// Every kind that has a folder, by folder. Written by scripts/gen-kinds.mjs; do not edit.
import type { KubeObject } from '#apimachinery/meta';
import type { KindDefinition } from './kind.ts';
${found.map(({ path, name }) => `import { ${name} } from './${path}';\n`).join('')}
const all: unknown[] = [
${found.map(({ name }) => `  ${name},\n`).join('')}];

export const kinds = all as KindDefinition<KubeObject>[];
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const api = process.argv[2] ?? fileURLToPath(new URL('../src/api', import.meta.url));
  writeFileSync(join(api, 'kinds.gen.ts'), kindsModule(api));
}
