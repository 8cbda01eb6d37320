// Groups and versions of this server and of others in one order (k8s.io/kube-aggregator, helper.SortedByGroupAndVersion): by the priorities of
// their APIServices. The registration itself has none and stands first.
import type { APIService } from '#api/apiregistration/v1';
import { compareVersions } from '../apiextensions/versions.ts';
import type { ServedGroup } from '../registry/resource-table.ts';
import { customPriority } from './priorities.ts';
import { apiServiceGroup } from './registration.ts';
import type { Remote } from './remotes.ts';

interface Ranked {
  group: string;
  version: string;
  name: string;
  groupPriority: number;
  versionPriority: number;
}

const byGroup = (a: Ranked, b: Ranked): number => b.groupPriority - a.groupPriority || (a.name < b.name ? -1 : 1);
const byVersion = (a: Ranked, b: Ranked): number =>
  b.versionPriority - a.versionPriority || compareVersions(a.version, b.version);

/** `localPriority`: what the APIService of a local group version says; undefined: none is there yet. */
export function mergedGroups(
  locals: readonly ServedGroup[],
  remotes: readonly Remote[],
  localPriority: (group: string, version: string) => APIService['spec'] | undefined,
): readonly ServedGroup[] {
  if (remotes.length === 0) return locals;
  const ranked = new Map<string, Ranked>();
  const add = (one: Ranked): void => void ranked.set(one.name, one);
  const first = locals.filter(({ group }) => group === '' || group === apiServiceGroup);
  for (const { group, versions } of locals) {
    if (first.some((one) => one.group === group)) continue;
    for (const version of versions) {
      const spec = localPriority(group, version);
      const { groupPriorityMinimum, versionPriority } = spec ?? customPriority;
      add({ group, version, name: `${version}.${group}`, groupPriority: groupPriorityMinimum, versionPriority });
    }
  }
  for (const { group, version, name, groupPriority, versionPriority } of remotes)
    if (!first.some((one) => one.group === group)) add({ group, version, name, groupPriority, versionPriority });
  const groups = new Map<string, Ranked[]>();
  for (const one of [...ranked.values()].sort(byGroup)) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  const sorted = [...groups].map(([group, versions]) => ({
    group,
    versions: versions.sort(byVersion).map(({ version }) => version),
  }));
  return [...first, ...sorted];
}
