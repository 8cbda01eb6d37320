// The resources a default apiserver serves: the published discovery documents without the alpha and beta versions, which are off by
// default (k8s.io/kubernetes/pkg/controlplane, DefaultAPIResourceConfigSource), and the priorities of each group version as the
// aggregator registers them (aggregator.go).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const stable = (version) => /^v\d+$/.test(version);

export function resourceTable(upstream) {
  const read = (name) => JSON.parse(readFileSync(join(upstream, 'api', 'discovery', `${name}.json`), 'utf8'));
  const priorities = readPriorities(upstream);
  const published = [];
  const groups = [];
  const resources = {};
  const root = { name: '', versions: [{ groupVersion: 'v1', version: 'v1' }] };
  for (const group of [root, ...read('apis').groups]) {
    published.push(...group.versions.map(({ groupVersion }) => groupVersion));
    const versions = group.versions.filter(({ version }) => stable(version));
    if (versions.length === 0) continue;
    groups.push({
      group: group.name,
      versions: versions.map(({ version, groupVersion }) => ({ version, ...priorities[groupVersion] })),
    });
    for (const { groupVersion } of versions) {
      const file = group.name === '' ? 'api__v1' : `apis__${groupVersion.replace('/', '__')}`;
      resources[groupVersion] = read(file).resources.map(resource);
    }
  }
  return { published, groups, resources };
}

const resource = ({
  name,
  singularName,
  namespaced,
  group,
  version,
  kind,
  verbs,
  shortNames,
  categories,
  storageVersionHash,
}) => ({
  name,
  singularName,
  namespaced,
  ...(group && { group }),
  ...(version && { version }),
  kind,
  verbs,
  ...(shortNames && { shortNames }),
  ...(categories && { categories }),
  ...(storageVersionHash && { storageVersionHash }),
});

function readPriorities(upstream) {
  const priorities = {};
  const entry = /\{Group: "([^"]*)", Version: "([^"]*)"\}:\s*\{Group: (\d+), Version: (\d+)\}/g;
  for (const file of ['pkg/controlplane/apiserver/aggregator.go', 'cmd/kube-apiserver/app/aggregator.go']) {
    const text = readFileSync(join(upstream, file), 'utf8');
    for (const [, group, version, groupPriority, versionPriority] of text.matchAll(entry)) {
      priorities[group === '' ? version : `${group}/${version}`] = {
        groupPriorityMinimum: Number(groupPriority),
        versionPriority: Number(versionPriority),
      };
    }
  }
  return priorities;
}
