// Which OpenAPI v3 documents there are: the index at /openapi/v3 with a hash for each (k8s.io/kube-openapi/pkg/handler3).
import { gitVersion } from '#component-base';
import type { Steps } from '#utils';
import { createHash } from '../../platform/crypto.ts';
import type { ServedResource } from '../../registry/generic/types.ts';
import type { ResourceTable } from '../../registry/resource-table.ts';
import { plainDocuments } from './plain-paths.ts';

/** Groups whose own resources are all custom: such a group has no document of its own, only its versions have. */
export function customGroups(table: ResourceTable): ReadonlySet<string> {
  const custom = new Set<string>();
  const others = new Set<string>();
  for (const one of table.all()) (one.custom ? custom : others).add(one.group);
  return new Set([...custom].filter((group) => !others.has(group)));
}

export function documentsOf(table: ResourceTable): string[] {
  const custom = customGroups(table);
  const groups = table.groups.flatMap(({ group, versions }) =>
    group === ''
      ? versions.map((version) => `api/${version}`)
      : [...(custom.has(group) ? [] : [`apis/${group}`]), ...versions.map((version) => `apis/${group}/${version}`)],
  );
  return [...plainDocuments, ...groups].sort();
}

const hashOf = (text: string): string => createHash('sha512').update(text).digest('hex').toUpperCase();

/** Hashes of the schemas of custom resources, which are large and stay the same as long as their definition does. */
const hashes = new WeakMap<object, string>();
function schemaHash(published: object | undefined): string {
  if (!published) return '';
  const known = hashes.get(published) ?? hashOf(JSON.stringify(published));
  hashes.set(published, known);
  return known;
}

/** The paths of the index. The hash changes when what is served under the path does; clients keep a document by it. */
export function* listing(table: ResourceTable): Steps<Record<string, { serverRelativeURL: string }>> {
  const custom = new Map<string, ServedResource[]>();
  for (const one of table.all()) {
    if (!one.custom) continue;
    const of = `${one.group}/${one.version}`;
    custom.set(of, [...(custom.get(of) ?? []), one]);
  }
  const entries: [string, { serverRelativeURL: string }][] = [];
  for (const path of documentsOf(table)) {
    const [, group = '', version] = path.startsWith('api/') ? ['', '', path.slice(4)] : path.split('/');
    const schemas: string[] = [];
    for (const { published } of custom.get(`${group}/${version ?? ''}`) ?? []) {
      schemas.push(schemaHash(published));
      yield;
    }
    const served = version === undefined ? table.groups.find((one) => one.group === group) : table.discovered(group, version);
    const hash = hashOf(JSON.stringify([gitVersion, path, served ?? [], schemas]));
    entries.push([path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }]);
    yield;
  }
  return Object.fromEntries(entries);
}
