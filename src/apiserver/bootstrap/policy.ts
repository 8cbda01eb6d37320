// The default policy of v1.36 (plugin/pkg/auth/authorizer/rbac/bootstrappolicy) put together from its tables.
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '#api/rbac/v1';
import { clusterRoles } from '../authorization/policy/cluster-roles.ts';
import { controllerRoles, controllerRolesIn } from '../authorization/policy/controller-roles.gen.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from '../authorization/policy/role-data.ts';

/** Subjects of the default bindings; each binds the ClusterRole of its own name. */
const clusterBindings: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['group:system:masters'],
  'system:basic-user': ['group:system:authenticated'],
  'system:discovery': ['group:system:authenticated'],
  'system:kube-controller-manager': ['user:system:kube-controller-manager'],
  'system:kube-dns': ['sa:kube-system/kube-dns'],
  'system:kube-scheduler': ['user:system:kube-scheduler'],
  'system:monitoring': ['group:system:monitoring'],
  'system:node': [],
  'system:node-proxier': ['user:system:kube-proxy'],
  'system:public-info-viewer': ['group:system:authenticated', 'group:system:unauthenticated'],
  'system:service-account-issuer-discovery': ['group:system:serviceaccounts'],
  'system:volume-scheduler': ['user:system:kube-scheduler'],
};

const leaderLocking = ['leases', 'leasecandidates'].map((what) => `create,get,list,update,watch coordination.k8s.io ${what}`);

const namespacedRoles: readonly [namespace: string, name: string, rules: readonly string[]][] = [
  [
    'kube-system',
    'extension-apiserver-authentication-reader',
    ['get,list,watch core configmaps extension-apiserver-authentication'],
  ],
  ['kube-system', 'system::leader-locking-kube-controller-manager', leaderLocking],
  ['kube-system', 'system::leader-locking-kube-scheduler', leaderLocking],
  ['kube-system', 'system:controller:cloud-provider', ['create,get,list,watch core configmaps']],
];

const namespacedBindings: readonly [namespace: string, name: string, role: string, subjects: readonly string[]][] = [
  [
    'kube-system',
    'system::extension-apiserver-authentication-reader',
    'extension-apiserver-authentication-reader',
    ['user:system:kube-controller-manager', 'user:system:kube-scheduler'],
  ],
  [
    'kube-system',
    'system::leader-locking-kube-controller-manager',
    'system::leader-locking-kube-controller-manager',
    [
      'user:system:kube-controller-manager',
      'sa:kube-system/kube-controller-manager',
      'sa:kube-system/leader-election-controller',
    ],
  ],
  [
    'kube-system',
    'system::leader-locking-kube-scheduler',
    'system::leader-locking-kube-scheduler',
    ['user:system:kube-scheduler', 'sa:kube-system/kube-scheduler'],
  ],
  ['kube-system', 'system:controller:cloud-provider', 'system:controller:cloud-provider', ['sa:kube-system/cloud-provider']],
];

const controllerRoleName = (name: string): string => `system:controller:${name}`;

export const defaultClusterRoles = (): ClusterRole[] => [
  ...Object.entries(clusterRoles).map(([name, data]) => clusterRole(name, data)),
  ...Object.entries(controllerRoles).map(([name, data]) => clusterRole(controllerRoleName(name), data)),
];

export const defaultClusterRoleBindings = (): ClusterRoleBinding[] => [
  ...Object.entries(clusterBindings).map(([name, subjects]) => clusterRoleBinding(name, name, subjects)),
  ...Object.keys(controllerRoles).map((name) =>
    clusterRoleBinding(controllerRoleName(name), controllerRoleName(name), [`sa:kube-system/${name}`]),
  ),
];

export const defaultRoles = (): Role[] => [
  ...namespacedRoles.map((line) => role(...line)),
  ...controllerRolesIn.map(([namespace, name, rules]) => role(namespace, controllerRoleName(name), rules)),
];

export const defaultRoleBindings = (): RoleBinding[] => [
  ...namespacedBindings.map((line) => roleBinding(...line)),
  ...controllerRolesIn.map(([namespace, name]) =>
    roleBinding(namespace, controllerRoleName(name), controllerRoleName(name), [`sa:kube-system/${name}`]),
  ),
];
