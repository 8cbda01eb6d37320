// The manifests of the cloud-controller-manager as a pod: accepted by the apiserver as they are, and with exactly the rights that the code lists.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { expect, it } from 'vitest';
import type { Deployment } from '#api/apps/v1';
import type { ClusterRole, Role } from '#api/rbac/v1';
import { builtinResources } from '#api';
import { type KubeObject, parseApiVersion } from '#apimachinery/meta';
import {
  beyondDocumented,
  cloudControllerManagerFlags,
  delegationRole,
  documentedRole,
  leaderElectionRole,
  ownIdentityRole,
} from '#cloud-controller-manager';
import { parseFlags } from '#component-base';
import type { PolicyRule } from '#controller-runtime';
import { startTestControlPlane, virtualClock } from '#testing';

const folder = resolve(fileURLToPath(import.meta.url), '..', '..', '..', '..', 'deploy', 'cloud-controller-manager');
async function documents(file: string): Promise<KubeObject[]> {
  return parseAllDocuments(await readFile(join(folder, file), 'utf8')).map((document) => document.toJS() as KubeObject);
}
const all = async (): Promise<KubeObject[]> =>
  (await Promise.all(['rbac.yaml', 'settings.yaml', 'deployment.yaml'].map(documents))).flat();
const named = async <T extends KubeObject>(kind: string, name: string): Promise<T> =>
  (await all()).find((object) => object.kind === kind && object.metadata.name === name) as T;

const expand = (rules: readonly PolicyRule[]): string[] =>
  rules
    .flatMap(({ verbs, apiGroups = [], resources = [] }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
    )
    .sort();

it('are accepted by the apiserver', async () => {
  const plane = await startTestControlPlane({ clock: virtualClock(), admission: { disable: ['ServiceAccount', 'Priority'] } });
  for (const object of await all()) {
    const { group, version } = parseApiVersion(object.apiVersion ?? '');
    const fact = builtinResources().find(
      (one) => one.group === group && one.version === version && one.kind.kind === object.kind,
    );
    expect(fact, object.kind).toBeDefined();
    const made = await plane.client
      .resource({ group, version, resource: fact?.resource ?? '' }, object.metadata.namespace)
      .create(object);
    expect(made.metadata.uid).toBeDefined();
  }
  await plane.stop();
});
it('grant what the code lists, and no more', async () => {
  const documented = await named<ClusterRole>('ClusterRole', 'system:cloud-controller-manager');
  expect(expand(documented.rules as PolicyRule[])).toEqual(expand(documentedRole));
  const beyond = beyondDocumented.map(({ verb, resource, group }) => `${verb} ${resource}.${group}`);
  const companion = await named<ClusterRole>('ClusterRole', 'sagong:cloud-controller-manager');
  expect(expand(companion.rules as PolicyRule[])).toEqual(
    [...beyond, ...expand(delegationRole), ...expand(ownIdentityRole)].sort(),
  );
  const leader = await named<Role>('Role', 'system:cloud-controller-manager:leader-election');
  expect(expand(leader.rules as PolicyRule[])).toEqual(expand(leaderElectionRole));
});
it('call the program with flags that it has', async () => {
  const { spec } = await named<Deployment>('Deployment', 'cloud-controller-manager');
  const args = spec?.template.spec?.containers[0]?.args ?? [];
  expect(args[0]).toBe('cloud-controller-manager');
  expect(parseFlags(cloudControllerManagerFlags, args.slice(1)).args).toEqual([]);
  expect(spec?.replicas).toBe(3);
});
