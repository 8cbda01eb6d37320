// Names with a meaning in user infos (k8s.io/apiserver/pkg/authentication/user and pkg/authentication/serviceaccount).
import { isDNS1123Label, isDNS1123Subdomain } from '#apimachinery/validation';
import type { UserInfo } from '../request/request.ts';

export const anonymousUser = 'system:anonymous';
export const nodesGroup = 'system:nodes';
export const nodeUserPrefix = 'system:node:';
export const mastersGroup = 'system:masters';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const apiserverUser = 'system:apiserver';
export const serviceAccountsGroup = 'system:serviceaccounts';

/** The names under which a user's `extra` tells of a token and of what it is bound to. */
export const extraKeys = {
  credentialId: 'authentication.kubernetes.io/credential-id',
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
} as const;

const serviceAccountPrefix = 'system:serviceaccount:';

export const serviceAccountUserName = (namespace: string, name: string): string => `${serviceAccountPrefix}${namespace}:${name}`;

/** The groups every service account of the namespace is in. */
export const serviceAccountGroups = (namespace: string): string[] => [
  serviceAccountsGroup,
  `${serviceAccountsGroup}:${namespace}`,
];

/** The service account a user name stands for, or undefined. */
export function splitServiceAccountName(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace, name, ...rest] = userName.slice(serviceAccountPrefix.length).split(':');
  if (namespace === undefined || name === undefined || rest.length > 0) return undefined;
  if (isDNS1123Label(namespace).length > 0 || isDNS1123Subdomain(name).length > 0) return undefined;
  return { namespace, name };
}

/** The node a user name stands for, or undefined. */
export function nodeOfUserName(userName: string): string | undefined {
  if (!userName.startsWith(nodeUserPrefix)) return undefined;
  const name = userName.slice(nodeUserPrefix.length);
  return isDNS1123Subdomain(name).length === 0 ? name : undefined;
}

/** The node a kubelet's user is, by name and group (nodeidentifier). Undefined for other users; '' for a node without a name. */
export function nodeIdentity(user: UserInfo): string | undefined {
  if (!user.name.startsWith(nodeUserPrefix) || !user.groups.includes(nodesGroup)) return undefined;
  return user.name.slice(nodeUserPrefix.length);
}

/** `user` with `group`; the same object when it is in it already. */
export const withGroup = (user: UserInfo, group: string): UserInfo =>
  user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };

/** The user the apiserver is when it calls itself. */
export const loopbackUser: UserInfo = Object.freeze({
  name: apiserverUser,
  groups: [authenticatedGroup, mastersGroup],
}) as UserInfo;

/**
 * Whose work it is. The service accounts of a namespace count as one, since whoever may make one there may make a thousand; those of
 * kube-system are the cluster's own and each for itself.
 */
export function flowOf(userName: string): string {
  const account = splitServiceAccountName(userName);
  return account && account.namespace !== 'kube-system' ? `namespace ${account.namespace}` : userName;
}

const controlPlaneUsers = new Set(['system:kube-controller-manager', 'system:kube-scheduler']);
const controlPlaneGroups = new Set(['system:nodes', 'system:serviceaccounts:kube-system']);

/** Whom the cluster cannot do without (those of the suggested flow schemas system-nodes, kube-controller-manager, kube-scheduler, kube-system-service-accounts). */
export const keepsTheClusterAlive = ({ name, groups = [] }: UserInfo): boolean =>
  controlPlaneUsers.has(name) || groups.some((group) => controlPlaneGroups.has(group));
