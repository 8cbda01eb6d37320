// Nobody grants what they do not hold (pkg/registry/rbac, policybased storage): writes of roles need every right in them, or the verb
// `escalate`; writes of bindings every right of the role, or the verb `bind`.
import type { ClusterRole, PolicyRule, Role, RoleBinding, RoleRef } from '#api/rbac/v1';
import { badRequest, forbidden, notFound, plainError } from '#apimachinery/errors';
import { asKind, type UnknownObject } from '#apimachinery/meta';
import { paced } from '#host';
import { quote } from '#utils';
import { mastersGroup } from '../../authentication/users.ts';
import { compact, TooManyGrants, uncovered } from '../../authorization/covers.ts';
import type { RbacAuthorizer } from '../../authorization/rbac.ts';
import type { Authorizer } from '../../authorization/types.ts';
import type { Attributes, UserInfo } from '../../request/request.ts';
import type { HookedWrite, StorageHook } from '../generic/storage-hook.ts';

const group = 'rbac.authorization.k8s.io';
const everything: PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const goList = (items: readonly string[]): string => `[${items.map(quote).join(' ')}]`;

function ruleText(rule: PolicyRule): string {
  const parts: [string, readonly string[] | null | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  return `{${parts.flatMap(([name, words]) => (words?.length ? [`${name}:${goList(words)}`] : [])).join(', ')}}`;
}

/** Why the user may not grant these rules in the namespace, in upstream's words; undefined when they may. */
async function escalationProblem(
  rbac: RbacAuthorizer,
  { request: { user }, settings: { rest } }: HookedWrite,
  namespace: string,
  rules: readonly PolicyRule[],
): Promise<string | undefined> {
  const { rules: owned, problems } = rbac.policyRules(user, namespace);
  let missing: readonly PolicyRule[];
  try {
    missing = await paced(uncovered(owned, rules), rest);
  } catch (error) {
    if (error instanceof TooManyGrants) return error.message;
    throw error;
  }
  if (missing.length === 0) return undefined;
  const lines = [...new Set(compact(missing).map(ruleText))].sort();
  const head = `user ${quote(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:`;
  const tail = problems.length > 0 ? `; resolution errors: [${problems.join(' ')}]` : '';
  return `${[head, ...lines].join('\n')}${tail}`;
}

// Fields the garbage collector has to change on objects whose rules it does not hold.
const stripped = ({ metadata, ...rest }: UnknownObject): string => {
  const { ownerReferences: _o, finalizers: _f, managedFields: _m, selfLink: _s, ...meta } = metadata;
  return JSON.stringify(sortKeys({ ...rest, metadata: meta }));
};

const sortKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
};

const onlyBookkeeping = (draft: UnknownObject, old: UnknownObject | undefined): boolean =>
  old !== undefined && stripped(draft) === stripped(old);

type Check = NonNullable<StorageHook['check']>;

/** Masters hold everything: nobody has to look at what they grant. */
const unlessMaster =
  (check: Check): Check =>
  (draft, old, write) =>
    write.request.user.groups.includes(mastersGroup) ? undefined : check(draft, old, write);

async function may(authorizer: Authorizer, user: UserInfo, verb: string, resource: Partial<NonNullable<Attributes['target']>>) {
  const full = { group, version: '*', resource: '', subresource: '', namespace: '', name: '', ...resource };
  return (await authorizer.authorize({ user, verb, target: full })).allowed;
}

const selectorsOf = (role: UnknownObject | undefined): number =>
  (role as ClusterRole | undefined)?.aggregationRule?.clusterRoleSelectors?.length ?? 0;

function roleHook(rbac: RbacAuthorizer, authorizer: Authorizer, resource: 'roles' | 'clusterroles'): StorageHook {
  return {
    group,
    resource,
    check: unlessMaster(async (draft, old, write) => {
      const { user } = write.request;
      const { namespace = '', name = '' } = draft.metadata;
      if (await may(authorizer, user, 'escalate', { resource, namespace, name: old ? name : '' })) return;
      if (onlyBookkeeping(draft, old)) return;
      const problem = await escalationProblem(rbac, write, namespace, asKind<Role>(draft).rules ?? []);
      if (problem !== undefined) throw forbidden({ group, resource }, name, problem);
      if (selectorsOf(draft) + selectorsOf(old) === 0) return;
      if ((await escalationProblem(rbac, write, namespace, everything)) === undefined) return;
      throw forbidden({ group, resource }, name, 'must have cluster-admin privileges to use the aggregationRule');
    }),
  };
}

function bindingHook(
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
  resource: 'rolebindings' | 'clusterrolebindings',
): StorageHook {
  const mayBind = async (user: UserInfo, ref: RoleRef, namespace: string): Promise<boolean> => {
    if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') return false;
    const kind = ref.kind === 'Role' ? 'roles' : 'clusterroles';
    return may(authorizer, user, 'bind', { group: ref.apiGroup ?? group, resource: kind, namespace, name: ref.name });
  };
  const rulesOf = (ref: RoleRef, namespace: string): readonly PolicyRule[] => {
    if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') {
      throw plainError(`unsupported role reference kind: ${quote(ref.kind)}`);
    }
    if (ref.kind === 'Role' && namespace === '') throw badRequest('Namespace parameter required.');
    try {
      return rbac.rulesOf(ref, namespace) ?? [];
    } catch {
      // Upstream names the binding's resource here, and the role.
      throw notFound({ group, resource }, ref.name);
    }
  };
  return {
    group,
    resource,
    check: unlessMaster(async (draft, old, write) => {
      const { user } = write.request;
      if (onlyBookkeeping(draft, old)) return;
      const { namespace = '', name = '' } = draft.metadata;
      const { roleRef } = asKind<RoleBinding>(draft);
      if (await mayBind(user, roleRef, namespace)) return;
      const problem = await escalationProblem(rbac, write, namespace, rulesOf(roleRef, namespace));
      if (problem !== undefined) throw forbidden({ group, resource }, name, problem);
    }),
  };
}

/** The checks of all four kinds. */
export const escalationHooks = (rbac: RbacAuthorizer, authorizer: Authorizer): StorageHook[] => [
  roleHook(rbac, authorizer, 'roles'),
  roleHook(rbac, authorizer, 'clusterroles'),
  bindingHook(rbac, authorizer, 'rolebindings'),
  bindingHook(rbac, authorizer, 'clusterrolebindings'),
];
