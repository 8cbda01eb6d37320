import { expect, test } from 'vitest';
import type { ClusterRole, PolicyRule } from '#api/rbac/v1';
import { aggregate } from './index.ts';

const rule = (resource: string): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const part = (name: string, labels: Record<string, string>, ...rules: PolicyRule[]): ClusterRole => ({
  metadata: { name, labels },
  rules,
});
const whole = (
  ...clusterRoleSelectors: NonNullable<ClusterRole['aggregationRule']>['clusterRoleSelectors'] & object
): ClusterRole => ({
  metadata: { name: 'whole', labels: { to: 'view' } },
  aggregationRule: { clusterRoleSelectors },
  rules: [rule('old')],
});
const resourcesOf = (rules: PolicyRule[]): unknown[] => rules.map(({ resources }) => resources?.[0]);

test('the rules of the selected roles, by selector and name, each once and never its own', () => {
  const role = whole({ matchLabels: { to: 'view' } }, { matchLabels: { to: 'edit', kind: 'a' } });
  const reordered: PolicyRule = { verbs: ['get'], resources: ['pods'], apiGroups: [''] };
  const roles = [
    role,
    part('c', { to: 'edit', kind: 'a' }, rule('services'), reordered),
    part('b', { to: 'view' }, rule('nodes')),
    part('a', { to: 'view' }, rule('pods'), rule('nodes')),
    part('d', { to: 'edit' }, rule('secrets')),
  ];
  expect(resourcesOf(aggregate(role, roles))).toEqual(['pods', 'nodes', 'services']);
});

test('selectors without labels look at all roles, those of unknown labels at none', () => {
  const roles = [part('a', { to: 'view' }, rule('pods')), part('b', {}, rule('nodes'))];
  const exists = { matchExpressions: [{ key: 'to', operator: 'Exists', values: [] }] };
  expect(resourcesOf(aggregate(whole(exists), roles))).toEqual(['pods']);
  expect(resourcesOf(aggregate(whole({}), roles))).toEqual(['pods', 'nodes']);
  expect(aggregate(whole({ matchLabels: { to: 'nowhere' } }), roles)).toEqual([]);
});
