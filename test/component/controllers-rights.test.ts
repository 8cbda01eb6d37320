// The bootstrap policy of the control loops is made from what each of them declares: `vitest -u` writes the table again. And the list of loops
// is the list of folders.
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { defaultClusterRoles, defaultRoles } from '#apiserver/bootstrap';
import { absentLoops, cloudLoops } from '#controller-manager';
import type { PolicyRule } from '#controller-runtime';
import { createControllers, defaultControllersConfig } from '#controllers';

const controllers = createControllers({ ...defaultControllersConfig, allocateNodeCidrs: true });
const table = '../../src/apiserver/authorization/policy/controller-roles.gen.ts';

/** A rule in the notation of `parseRule`. */
const lineOf = ({ verbs, apiGroups = [], resources = [], resourceNames, nonResourceURLs }: PolicyRule): string =>
  nonResourceURLs
    ? `${verbs.join()} - ${nonResourceURLs.join()}`
    : [verbs.join(), apiGroups.map((group) => group || 'core').join(), resources.join(), resourceNames?.join() ?? '']
        .join(' ')
        .trimEnd();

type Lines = readonly string[];

/** Rules by account. Loops that share an account must agree; '' is the manager itself, whose role is not a loop's. */
function clusterWide(): [account: string, rules: Lines][] {
  const roles = new Map<string, Lines>();
  for (const { name, serviceAccount = name, rights } of controllers) {
    if (serviceAccount === '' || rights.length === 0) continue;
    const lines = rights.map(lineOf);
    expect(roles.get(serviceAccount) ?? lines, serviceAccount).toEqual(lines);
    roles.set(serviceAccount, lines);
  }
  for (const { role } of [...cloudLoops, ...absentLoops]) if (role) roles.set(role.name, role.rights.map(lineOf));
  return [...roles].sort(([a], [b]) => (a < b ? -1 : 1));
}

const inNamespaces = (): [namespace: string, account: string, rules: Lines][] =>
  controllers.flatMap(({ name, serviceAccount = name, rightsIn = {} }) =>
    Object.entries(rightsIn).map(([namespace, rights]): [string, string, Lines] => [
      namespace,
      serviceAccount,
      rights.map(lineOf),
    ]),
  );

const literal = (rules: Lines): string => rules.map((rule) => `    '${rule}',\n`).join('');

const document =
  (): string => `// What each control loop of v1.36 may do, in the notation of \`parseRule\`. Generated from the loops by
// test/component/controllers-rights.test.ts; do not edit.
import type { RoleData } from './role-data.ts';

/** The ClusterRoles \`system:controller:<name>\`, each bound to the service account of that name in kube-system. */
export const controllerRoles: Readonly<Record<string, RoleData>> = {
${clusterWide()
  .map(([account, rules]) => `  '${account}': [\n${literal(rules)}  ],\n`)
  .join('')}};

/** Roles of the same names in single namespaces, for loops that act nowhere else. */
export const controllerRolesIn: readonly [namespace: string, name: string, rules: readonly string[]][] = [
${inNamespaces()
  .map(([namespace, account, rules]) => `  ['${namespace}', '${account}', [\n${literal(rules)}  ]],\n`)
  .join('')}];
`;

test('the bootstrap policy has what the loops declare', async () => {
  await expect(document()).toMatchFileSnapshot(table);
});

describe('a role exists for', () => {
  const roles = [...defaultClusterRoles(), ...defaultRoles()].map(({ metadata }) => metadata.name);
  // '': it writes as the manager itself.
  const named = controllers.filter(({ serviceAccount }) => serviceAccount !== '');
  test.each(named.map(({ name, serviceAccount = name }) => [name, serviceAccount]))('%s', (_name, account) => {
    expect(roles).toContain(`system:controller:${account}`);
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
