// Writes src/component-base/features/known.gen.ts: the names, stages and defaults of upstream's feature gates at one minor version.
// usage: node spec/feature-gates.mjs <kube_features.go>...   (those of kubernetes, apiserver, apiextensions-apiserver and client-go at the pinned version)
import { readFileSync, writeFileSync } from 'node:fs';

const minor = 36;
const stages = { Alpha: 'ALPHA', Beta: 'BETA', GA: 'GA', Deprecated: 'DEPRECATED' };

const source = process.argv
  .slice(2)
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
const names = new Map(
  [...source.matchAll(/^\t(\w+)(?:\s+(?:\w+\.)?Feature)?\s*= (?:featuregate\.Feature\()?"(\w+)"/gm)].map(([, constant, name]) => [
    constant,
    name,
  ]),
);

/** The last entry of a gate's history that is not newer than `minor`. */
function current(history) {
  const entries = [...history.matchAll(/\{Version: version\.MustParse\("1\.(\d+)"\), (.*?)\}/g)].filter(
    ([, since]) => Number(since) <= minor,
  );
  const text = entries.at(-1)?.[2];
  const stage = text && stages[/PreRelease: (?:featuregate\.)?(\w+)/.exec(text)?.[1]];
  return stage && { default: /(?<!To)Default: true/.test(text), stage, lockToDefault: /LockToDefault: true/.test(text) };
}

const features = new Map();
for (const [, constant, history] of source.matchAll(/^\t(?:\w+\.)?(\w+): \{\n([\s\S]*?)^\t\},/gm)) {
  const spec = current(history);
  // Gates of other modules are named by their constants; by convention the two are the same.
  const name = names.get(constant) ?? constant;
  if (spec) features.set(name, spec);
}

const lines = [...features]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(
    ([name, { default: value, stage, lockToDefault }]) =>
      `  ${name}: { default: ${value}, stage: '${stage}'${lockToDefault ? ', lockToDefault: true' : ''} },`,
  );
const head = `// Written by spec/feature-gates.mjs: upstream's feature gates as of v1.${minor}.\nimport type { FeatureSpec } from './feature-gates.ts';\n`;
const body = `export const knownFeatures: Readonly<Record<string, FeatureSpec>> = {\n${lines.join('\n')}\n};\n`;
writeFileSync(new URL('../src/component-base/features/known.gen.ts', import.meta.url), `${head}\n${body}`);
console.log(`${features.size} feature gates`);
