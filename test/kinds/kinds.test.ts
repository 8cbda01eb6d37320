// Every built-in kind: the list is complete, a valid object passes all rules, defaults settle, other versions lose nothing, and the columns of
// `kubectl get` are upstream's (pkg/printers/internalversion).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { builtinKinds, builtinResources, type KindDefinition } from '#api';
import { parseYaml } from '#apimachinery/codec';
import { errorText } from '#apimachinery/field';
import { apiVersionOf, type KubeObject, type UnknownObject } from '#apimachinery/meta';
import { describe, expect, test } from 'vitest';
import { kindsModule } from '../../scripts/gen-kinds.mjs';
import { columnNames } from './columns.ts';
import { create, doorOf, now, read, update, write } from './pipeline.ts';

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

const sources = new URL('../../src/api/', import.meta.url);
const context = { now, subresource: '', user: { name: 'admin', groups: ['system:masters'] } };

const nameOf = ({ group, kind }: { group: string; kind: string }): string => (group === '' ? kind : `${kind}.${group}`);
const folderOf = ({ group, kind }: KindDefinition<KubeObject>): string =>
  `${group === '' ? 'core' : group.split('.')[0]}/${kind.toLowerCase()}`;

const fixtures = readFileSync(new URL('fixtures.yaml', import.meta.url), 'utf8')
  .split(/^---$/m)
  .map((text) => parseYaml(text).value as UnknownObject);

const fixtureOf = (definition: KindDefinition<KubeObject>): UnknownObject => {
  const { group, version, kind } = definition;
  const found = fixtures.find((object) => object.kind === kind && object.apiVersion === apiVersionOf(group, version));
  if (!found) throw new Error(`no fixture of ${nameOf(definition)}`);
  return found;
};

test('the list has one entry per folder, under the name of its kind', () => {
  // Stale: run `node scripts/gen-kinds.mjs`.
  expect(readFileSync(new URL('kinds.gen.ts', sources), 'utf8')).toBe(kindsModule(fileURLToPath(sources)));
  const folders = readdirSync(sources, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(new URL(`${name}/`, sources)).map((kind) => `${name}/${kind}`))
    .filter((folder) => !/\/(common|v\d+\w*)$/.test(folder) && existsSync(new URL(`${folder}/index.ts`, sources)));
  expect(builtinKinds.map(folderOf).sort()).toEqual(folders.sort());
});

test('everything that is stored has a definition', () => {
  const stored = builtinResources().filter(({ subresource, verbs }) => subresource === '' && verbs.includes('watch'));
  const missing = stored.filter(
    ({ group, kind }) => !builtinKinds.some((one) => one.kind === kind.kind && (one.group === group || kind.kind === 'Event')),
  );
  expect(missing.map(({ group, resource }) => `${resource}.${group}`)).toEqual([]);
});

describe.each(builtinKinds.map((definition) => [nameOf(definition), definition] as const))('%s', (name, definition) => {
  const facts = builtinResources().filter(
    ({ group, kind, subresource }) => group === definition.group && kind.kind === definition.kind && subresource === '',
  );
  const namespaced = facts[0]?.namespaced ?? definition.resource?.namespaced ?? false;
  const storage = apiVersionOf(definition.group, definition.version);

  const created = (): { object: UnknownObject; errors: string[] } => {
    const object = read(definition, storage, fixtureOf(definition));
    object.metadata.uid = '11111111-1111-4111-8111-111111111111';
    object.metadata.creationTimestamp = '2026-01-02T03:04:05Z';
    object.metadata.resourceVersion = '1';
    return { errors: create(definition, object, namespaced, context).map(errorText), object };
  };

  test('a valid object is accepted, unchanged or not', () => {
    const { object, errors } = created();
    expect(errors).toEqual([]);
    const errorsOfUpdate = update(definition, definition, structuredClone(object), structuredClone(object), context);
    expect(errorsOfUpdate.map(errorText)).toEqual([]);
  });

  test('a bad name is refused', () => {
    const object = read(definition, storage, fixtureOf(definition));
    object.metadata.name = '../a b';
    expect(create(definition, object, namespaced, context).map(({ field }) => field)).toContain('metadata.name');
  });

  test('defaults settle', () => {
    const { object } = created();
    const again = structuredClone(object);
    definition.defaults?.(again);
    expect(again).toEqual(object);
    // What is whole already may be shared with the stored object: nothing is written to it.
    expect(() => definition.defaults?.(deepFreeze(again))).not.toThrow();
  });

  test('other versions lose nothing', () => {
    const { object } = created();
    const stored = write(definition, storage, structuredClone(object));
    for (const { version } of facts) {
      const apiVersion = apiVersionOf(definition.group, version);
      const back = read(definition, apiVersion, write(definition, apiVersion, structuredClone(object)));
      expect(write(definition, storage, back)).toEqual(stored);
    }
  });

  test('the main door keeps the status, the status door keeps the spec', () => {
    const { object } = created();
    const type = 'status' in write(definition, storage, structuredClone(object)) ? object : undefined;
    const door = doorOf(definition, 'status');
    if (!type || !door || !('spec' in object)) return;
    const draft = structuredClone(object) as UnknownObject & { spec?: unknown };
    draft.spec = {};
    update(definition, door, draft, structuredClone(object), { ...context, subresource: 'status' });
    expect(draft.spec).toEqual(object['spec']);
  });

  test('columns', () => {
    const { object } = created();
    const columns = definition.printer?.columns.map(({ name: column, priority }) => (priority ? `(${column})` : column));
    expect(columns?.join(', ')).toBe(columnNames[name]);
    const { printer } = definition;
    // Upstream prints the age of addresses without a column for it.
    const further = name === 'IPAddress.networking.k8s.io' ? 1 : 0;
    if (printer) expect(printer.cells(object, now)).toHaveLength(printer.columns.length + further);
  });
});
