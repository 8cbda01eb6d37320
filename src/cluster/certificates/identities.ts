// Who the components of a cluster are (https://kubernetes.io/docs/setup/best-practices/certificates/#configure-certificates-for-user-accounts).
export interface Identity {
  name: string;
  groups: string[];
}

const authenticated = 'system:authenticated';
const user = (name: string, ...groups: string[]): Identity => ({ name, groups: [...groups, authenticated] });

export const identities = {
  admin: user('kubernetes-admin', 'system:masters'),
  controllerManager: user('system:kube-controller-manager'),
  scheduler: user('system:kube-scheduler'),
  kubeProxy: user('system:kube-proxy'),
  dns: user('system:serviceaccount:kube-system:coredns', 'system:serviceaccounts', 'system:serviceaccounts:kube-system'),
  networkPolicy: user(
    'system:serviceaccount:kube-system:kube-network-policy',
    'system:serviceaccounts',
    'system:serviceaccounts:kube-system',
  ),
  /** On a machine that joined: its rights end with its Node. */
  networkPolicyOf: (node: string): Identity => user(`system:kube-network-policy:${node}`),
  node: (name: string): Identity => user(`system:node:${name}`, 'system:nodes'),
  /** One identity a control loop, as with `--use-service-account-credentials`. */
  controller: (name: string): Identity =>
    user(`system:serviceaccount:kube-system:${name}`, 'system:serviceaccounts', 'system:serviceaccounts:kube-system'),
} as const;
