// Brings the default roles and bindings up to date (pkg/registry/rbac/reconciliation): makes what is missing, adds missing rules and
// subjects, never takes away, and leaves objects alone whose autoupdate annotation is false.
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, Subject } from '#api/rbac/v1';
import type { KubeObject } from '#apimachinery/meta';
import { finish } from '#utils';
import { compact, uncovered } from '../authorization/covers.ts';
import type { ClusterWriter } from '../registry/writer.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import { ensure, type Wanted } from './ensure.ts';
import { defaultClusterRoleBindings, defaultClusterRoles, defaultRoleBindings, defaultRoles } from './policy.ts';
import { rbacGroup } from '../authorization/policy/role-data.ts';

const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate';

const isLocked = (object: KubeObject): boolean => object.metadata.annotations?.[autoupdate] === 'false';

/** `wanted` entries over `current` ones where they are absent; the same object when there is nothing to add. */
function merged(
  current: Record<string, string> | undefined,
  wanted: Record<string, string> | undefined,
): Record<string, string> | undefined {
  const missing = Object.entries(wanted ?? {}).filter(([key]) => current?.[key] === undefined);
  return missing.length === 0 ? current : { ...current, ...Object.fromEntries(missing) };
}

function withMetadata<T extends KubeObject>(current: T, wanted: T): T {
  const labels = merged(current.metadata.labels, wanted.metadata.labels);
  const annotations = merged(current.metadata.annotations, wanted.metadata.annotations);
  if (labels === current.metadata.labels && annotations === current.metadata.annotations) return current;
  return { ...current, metadata: { ...current.metadata, ...(labels && { labels }), ...(annotations && { annotations }) } };
}

type Rules = ClusterRole['rules'];

const missingRules = (current: Rules, wanted: Rules): PolicyRule[] => compact(finish(uncovered(current ?? [], wanted ?? [])));

/** The role with what it lacks; undefined when it lacks nothing. */
export function reconciledRole<T extends ClusterRole | Role>(current: T, wanted: T): T | undefined {
  if (isLocked(current)) return undefined;
  let role = withMetadata(current, wanted);
  const wantedSelectors = ('aggregationRule' in wanted && wanted.aggregationRule?.clusterRoleSelectors) || [];
  if (wantedSelectors.length > 0) {
    const own = ('aggregationRule' in current && current.aggregationRule?.clusterRoleSelectors) || [];
    const texts = new Set(own.map((selector) => JSON.stringify(selector)));
    const missing = wantedSelectors.filter((selector) => !texts.has(JSON.stringify(selector)));
    if (missing.length > 0) role = { ...role, aggregationRule: { clusterRoleSelectors: [...own, ...missing] } };
  } else {
    const missing = missingRules(current.rules, wanted.rules);
    if (missing.length > 0) role = { ...role, rules: [...(current.rules ?? []), ...missing] };
  }
  return role === current ? undefined : role;
}

const sameSubject = (a: Subject, b: Subject): boolean => a.kind === b.kind && a.name === b.name && a.namespace === b.namespace;

/** The binding with the subjects it lacks; undefined when it lacks none, or binds another role (which only its owner may change). */
export function reconciledBinding<T extends ClusterRoleBinding | RoleBinding>(current: T, wanted: T): T | undefined {
  if (isLocked(current) || current.roleRef.kind !== wanted.roleRef.kind || current.roleRef.name !== wanted.roleRef.name)
    return undefined;
  let binding = withMetadata(current, wanted);
  const own = current.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter((subject) => !own.some((other) => sameSubject(other, subject)));
  if (missing.length > 0) binding = { ...binding, subjects: [...own, ...missing] };
  return binding === current ? undefined : binding;
}

/** All in one batch: roles first, then bindings. */
export async function reconcileRbac(cluster: ReadOnlyCluster, writer: ClusterWriter): Promise<void> {
  const roles: Wanted<ClusterRole | Role>[] = [
    ...defaultClusterRoles().map((object) => ({ group: rbacGroup, resource: 'clusterroles', object })),
    ...defaultRoles().map((object) => ({ group: rbacGroup, resource: 'roles', object })),
  ];
  const bindings: Wanted<ClusterRoleBinding | RoleBinding>[] = [
    ...defaultClusterRoleBindings().map((object) => ({ group: rbacGroup, resource: 'clusterrolebindings', object })),
    ...defaultRoleBindings().map((object) => ({ group: rbacGroup, resource: 'rolebindings', object })),
  ];
  await Promise.all([ensure(cluster, writer, roles, reconciledRole), ensure(cluster, writer, bindings, reconciledBinding)]);
}
