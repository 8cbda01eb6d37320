// docs/contributing.md, "I want to add a kind": one new folder, and the list of kinds written again. This test adds one of upstream's kinds that a
// default apiserver does not serve, in a tree of its own, and uses it.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinKinds, type KindDefinition } from '#api';
import type { KubeObject } from '#apimachinery/meta';
import { createApiServer } from '#apiserver';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { openMemoryStore } from '#store';
import { kindsModule } from '../../../scripts/gen-kinds.mjs';

const api = fileURLToPath(new URL('../../../src/api', import.meta.url));
let tree = '';
let copy = '';
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'sagong-kind-'));
  copy = treeWithKind();
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** The folder that a contributor writes. */
const folder = `// Candidates for a lease (KEP-4355).
import { root, required } from '#apimachinery/field';
import { defineKind } from '../../kind.ts';

export const leaseCandidate = defineKind({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  resource: { resource: 'leasecandidates', singularName: 'leasecandidate', namespaced: true, shortNames: ['lc'] },
  validate: ({ spec }) => (spec?.leaseName ? [] : [required(root('spec', 'leaseName'))]),
  printer: {
    columns: [{ name: 'Name', type: 'string' }, { name: 'Lease', type: 'string' }],
    cells: ({ metadata, spec }) => [metadata.name, spec.leaseName],
  },
});
`;

/** Makes the tree as it is, by links, with one more folder. Gives the room in it. */
function treeWithKind(): string {
  const room = join(tree, 'src/api');
  mkdirSync(room, { recursive: true });
  const link = (from: string, to: string, except: string): void => {
    for (const name of readdirSync(from)) if (name !== except) symlinkSync(join(from, name), join(to, name));
  };
  link(api, room, 'coordination');
  mkdirSync(join(room, 'coordination'));
  link(join(api, 'coordination'), join(room, 'coordination'), '');
  link(join(api, '..'), join(tree, 'src'), 'api');
  cpSync(join(api, '../../package.json'), join(tree, 'package.json'));
  mkdirSync(join(room, 'coordination/leasecandidate'));
  writeFileSync(join(room, 'coordination/leasecandidate/index.ts'), folder);
  rmSync(join(room, 'kinds.gen.ts'));
  writeFileSync(join(room, 'kinds.gen.ts'), kindsModule(room));
  return room;
}

test('adding a kind touches one folder: it is served, listed, validated and printed', async () => {
  const { kinds } = (await import(/* @vite-ignore */ join(copy, 'kinds.gen.ts'))) as { kinds: KindDefinition<KubeObject>[] };
  expect(kinds).toHaveLength(builtinKinds.length + 1);
  const clock = systemClock();
  const store = openMemoryStore({ clock });
  const apiserver = await createApiServer({ store, clock, rng: systemRng(), kinds });
  try {
    const { transport } = createClient(apiserver.transport({ name: 'me', groups: ['system:masters'] }));
    const of = { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates', namespace: 'default' };
    const discovered = await transport.raw('GET', '/apis/coordination.k8s.io/v1beta1');
    expect(JSON.parse(discovered.text)).toMatchObject({
      resources: [{ name: 'leasecandidates', kind: 'LeaseCandidate', shortNames: ['lc'] }],
    });
    const object = (leaseName: string): KubeObject => ({ metadata: { name: 'one' }, spec: { leaseName } }) as KubeObject;
    await expect(transport.call({ ...of, verb: 'create', object: object('') })).rejects.toMatchObject({
      status: { code: 422, details: { causes: [{ field: 'spec.leaseName', reason: 'FieldValueRequired' }] } },
    });
    await transport.call({ ...of, verb: 'create', object: object('scheduler') });
    expect(await transport.call({ ...of, verb: 'list' })).toMatchObject({
      items: [{ metadata: { name: 'one', namespace: 'default', uid: expect.any(String) }, spec: { leaseName: 'scheduler' } }],
    });
  } finally {
    await apiserver.close();
    await store.close();
  }
});
