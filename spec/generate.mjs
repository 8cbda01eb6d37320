// Writes the generated facts of the pinned Kubernetes version into src/api: the schema table, the resource table and the TypeScript
// types. Needs the Go toolchain: the Go types are read by reflection (spec/gen), the published OpenAPI and discovery documents come out
// of the module k8s.io/kubernetes. Usage: node spec/generate.mjs
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addEnums } from './lib/enums.mjs';
import { internalTypes } from './lib/internal-types.mjs';
import { readOpenAPI } from './lib/openapi.mjs';
import { resourceTable } from './lib/resources.mjs';
import { schemaTable } from './lib/schema-table.mjs';
import { writeTypes } from './lib/typescript.mjs';

export const kubernetesVersion = 'v1.36.2';
export const modulesVersion = 'v0.36.2';

const here = dirname(fileURLToPath(import.meta.url));
const api = join(here, '..', 'src', 'api');
const go = (...args) => execFileSync('go', args, { cwd: join(here, 'gen'), maxBuffer: 1 << 28, encoding: 'utf8' });

/** A file with one top-level entry per line, so that diffs between versions can be read. */
function writeJSON(file, value) {
  const line = ([key, entry]) => ` ${JSON.stringify(key)}: ${JSON.stringify(entry)}`;
  const section = ([key, entry]) =>
    typeof entry === 'object' && !Array.isArray(entry)
      ? `${JSON.stringify(key)}: {\n${Object.entries(entry).map(line).join(',\n')}\n}`
      : `${JSON.stringify(key)}: ${JSON.stringify(entry)}`;
  writeFileSync(join(api, file), `{\n${Object.entries(value).map(section).join(',\n')}\n}\n`);
}

const source = `k8s.io/api, apimachinery, apiextensions-apiserver, kube-aggregator ${modulesVersion}; k8s.io/kubernetes ${kubernetesVersion}`;
const upstream = JSON.parse(go('mod', 'download', '-json', `k8s.io/kubernetes@${kubernetesVersion}`)).Dir;
const facts = JSON.parse(go('run', '.'));
const openapi = readOpenAPI(upstream);
addEnums(openapi, upstream);
const resources = resourceTable(upstream);
const schema = schemaTable(facts, openapi, resources.published);

writeJSON('schema.gen.json', { source, version: kubernetesVersion, kinds: schema.kinds, types: schema.types });
writeJSON('resources.gen.json', { source, version: kubernetesVersion, groups: resources.groups, resources: resources.resources });
writeJSON('internal.gen.json', { source, version: kubernetesVersion, types: internalTypes(upstream) });
writeTypes(api, schema.expanded, schema.expandedKinds, source);
writeFileSync(join(here, '..', 'test', 'fixtures', 'serializers.gen.json'), go('run', '.', 'vectors'));
