// Every loop says what it may do; the bootstrap policy says it too. Both must say the same, or a loop is refused, or allowed too much.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { defaultClusterRoles, defaultRoles } from '#apiserver/bootstrap';
import { createControllers, defaultControllersConfig } from '#controllers';

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
}

const spread = (rules: readonly Rule[]): string[] =>
  [
    ...new Set(
      rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [''] }) =>
        verbs.flatMap((verb) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) =>
              resourceNames.map((name) => [verb, group || 'core', resource, name].join(' ').trim()),
            ),
          ),
        ),
      ),
    ),
  ].sort();

const loops = createControllers(defaultControllersConfig);
const accounts = new Map<string, Rule[]>();
for (const { name, serviceAccount = name, rights, rightsIn = {} } of loops)
  if (serviceAccount !== '')
    accounts.set(serviceAccount, [...(accounts.get(serviceAccount) ?? []), ...rights, ...Object.values(rightsIn).flat()]);

describe('rights of loops', () => {
  it.each([...accounts])('%s', (account, rights) => {
    // Some loops act in few namespaces, and have a Role in each.
    const roles = [...defaultClusterRoles(), ...defaultRoles()].filter(
      ({ metadata }) => metadata.name === `system:controller:${account}`,
    );
    expect(roles).not.toEqual([]);
    expect(spread(rights)).toEqual(spread(roles.flatMap(({ rules }) => (rules ?? []) as Rule[])));
  });
});

describe('the list of loops', () => {
  it('has every folder and no name twice', () => {
    const root = new URL('../../../src/controllers/', import.meta.url);
    const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(loops.length).toBeGreaterThanOrEqual(folders.length);
    const names = loops.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });
});
