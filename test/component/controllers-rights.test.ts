// The rules a loop declares are those of its role in the bootstrap policy: one must not change without the other. And the list of loops is
// the list of folders.
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { defaultClusterRoles, defaultRoles } from '#apiserver/bootstrap';
import type { PolicyRule } from '#controller-runtime';
import { createControllers, defaultControllersConfig } from '#controllers';

const controllers = createControllers({ ...defaultControllersConfig, allocateNodeCidrs: true });
const roles = new Map(defaultClusterRoles().map(({ metadata, rules }) => [metadata.name, rules ?? []]));
// Some loops act in few namespaces, and have a Role in each.
for (const { metadata, rules } of defaultRoles())
  roles.set(metadata.name, [...(roles.get(metadata.name) ?? []), ...(rules ?? [])]);

/** Every single thing that rules allow. */
const permissions = (rules: readonly PolicyRule[]): string[] => {
  const single = rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [''], nonResourceURLs = [] }) =>
    verbs.flatMap((verb) => [
      ...nonResourceURLs.map((url) => `${verb} ${url}`),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((resource) => resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`.trim())),
      ),
    ]),
  );
  return [...new Set(single)].sort();
};

describe('rights', () => {
  test.each(controllers.map((controller) => [controller.name, controller] as const))('%s', (name, { serviceAccount, rights }) => {
    const role = roles.get(`system:controller:${serviceAccount ?? name}`);
    // '': it writes as the manager itself.
    if (serviceAccount !== '') expect(role).toBeDefined();
    expect(permissions(rights)).toEqual(permissions((role ?? []) as PolicyRule[]));
  });
});

test('names and aliases are each used once', () => {
  const names = controllers.flatMap(({ name, aliases = [] }) => [name, ...aliases.filter((alias) => alias !== name)]);
  expect(names).toEqual([...new Set(names)]);
});

test('there is one loop per folder', () => {
  const folders = readdirSync(new URL('../../src/controllers', import.meta.url), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(controllers.length).toBeGreaterThanOrEqual(folders.length);
});
