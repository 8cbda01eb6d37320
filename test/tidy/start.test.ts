// What `sagong up` has loaded when it has started: libraries that few clusters need come with what needs them. Each costs every start some milliseconds,
// and nobody would see one that an import at the top of a file brings back.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** What a default cluster loads, the parts that it imports while it starts included. */
const started = [
  ...['cluster/start/index.ts', 'cluster/start/up.ts', 'cluster/control-plane.ts', 'cluster/cluster-nodes/cluster-nodes.ts'],
  ...['apiserver/app/index.ts', 'controller-manager/index.ts', 'scheduler/index.ts', 'cloud-controller-manager/index.ts'],
  ...['cloud/server/index.ts', 'kubelet/index.ts', 'cluster/nodes/simulated-nodes.ts'],
];
const late = ['@grpc/grpc-js', '@grpc/proto-loader', 'protobufjs', 'yaml'];

/** Specifiers of imports and exports that are there at run time; what `import()` loads is not among them. */
const loads = (text: string): string[] =>
  [...text.matchAll(/^(?:import|export)\s+(?!type\s)([^;]*?\sfrom\s+)?'([^']+)';/gm)].flatMap(
    ([, names = '', specifier = '']) => {
      const braces = /^\{([^}]*)\}\s+from/.exec(names.trim())?.[1];
      const onlyTypes = braces?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type '));
      return onlyTypes ? [] : [specifier];
    },
  );

function fileOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(from), specifier);
  return specifier.startsWith('#') ? join(src, specifier.slice(1), 'index.ts') : undefined;
}

/** Packages that come with a file, each with the files between. */
function packagesOf(entry: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const ways = new Map([[entry, [entry]]]);
  for (const [file, way] of ways) {
    for (const specifier of loads(readFileSync(file, 'utf8'))) {
      const next = fileOf(file, specifier);
      if (next === undefined) found.set(specifier, way);
      else if (!next.endsWith('.json') && !ways.has(next)) ways.set(next, [...way, next]);
    }
  }
  return found;
}

test('imports are told from types and from what is loaded later', () => {
  const text =
    "import a from 'x';\nimport type { B } from 'y';\nimport {\n  type C,\n  type D,\n} from 'z';\nimport { e, type F } from 'w';\nexport { g } from 'v';\nconst u = await import('u');\nimport 't';\n";
  expect(loads(text)).toEqual(['x', 'w', 'v', 't']);
});

test.each(started)('%s loads no library that only some clusters need', (path) => {
  expect(existsSync(join(src, path))).toBe(true);
  const packages = packagesOf(join(src, path));
  expect(packages.size).toBeGreaterThan(0);
  const ways = late.flatMap((name) => (packages.has(name) ? [[name, ...(packages.get(name) ?? [])].join(' <- ')] : []));
  expect(ways).toEqual([]);
});
