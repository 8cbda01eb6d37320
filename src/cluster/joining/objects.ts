// What a cluster publishes so that machines can join it, with kubeadm's names and rights (https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/):
// who knows a bootstrap token may read the way in and ask for the certificate of a kubelet. Pure.
import { formatYaml } from '#apimachinery/codec';
import type { PolicyRule } from '#api/rbac/v1';
import { gitVersion } from '#component-base';
import { kubeconfigFor } from '#client';
import type { ProxyMode } from '#kube-proxy';
import type { Applied } from '../objects/apply.ts';
import type { ComponentArgs } from '../flags/component-args.ts';
import type { KeptFlags } from '../flags/index.ts';
import { kubeletAuthorityName } from '../certificates/names.ts';
import { clusterNetworks } from '../state/networks.ts';

export const bootstrapGroup = 'system:bootstrappers:kubeadm:default-node-token';
/** The Secret in which certificate authorities go from one control plane to another. */
export const certificatesSecret = 'kubeadm-certs';
const nodesGroup = 'system:nodes';
const rbac = 'rbac.authorization.k8s.io';
const apiVersion = `${rbac}/v1`;

export interface JoiningFacts {
  cluster: string;
  /** `10.0.0.1:6443`: where machines find the control plane. */
  endpoint: string;
  /** PEM. */
  ca: string;
  /** PEM, of all authorities whose certificates kubelets serve with. */
  kubeletTrust: string;
  podCidr: string;
  /** The data is in an etcd of the control plane's machines: others can be a part of it. */
  growing: boolean;
  proxyMode: ProxyMode;
  networkPolicy: KeptFlags['networkPolicy'];
  /** The flags of the control plane's components, which further control planes of the cluster get, too. */
  args: ComponentArgs;
}

interface Entry {
  resource: string;
  object: Applied;
}

const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', name, apiGroup: rbac }));

const clusterBinding = (name: string, role: string, subjects: object[]): Entry => ({
  resource: 'clusterrolebindings',
  object: {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects,
  },
});

const clusterRole = (name: string, rules: PolicyRule[]): Entry => ({
  resource: 'clusterroles',
  object: { apiVersion, kind: 'ClusterRole', metadata: { name }, rules },
});

/** The right to read one object. */
const readable = (
  name: string,
  namespace: string,
  object: string,
  subjects: object[],
  resource: 'configmaps' | 'secrets' = 'configmaps',
): Entry[] => [
  {
    resource: 'roles',
    object: {
      apiVersion,
      kind: 'Role',
      metadata: { name, namespace },
      rules: [{ apiGroups: [''], resources: [resource], resourceNames: [object], verbs: ['get'] }],
    },
  },
  {
    resource: 'rolebindings',
    object: {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects,
    },
  },
];

const configMap = (name: string, namespace: string, data: Record<string, string>): Entry => ({
  resource: 'configmaps',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data },
});

/** What anybody may read: where the cluster is, and its authority. */
function clusterInfo({ endpoint, ca }: JoiningFacts): string {
  const { clusters } = kubeconfigFor('', { server: `https://${endpoint}`, ca });
  const none = { users: null, contexts: null, preferences: {}, 'current-context': '' };
  return formatYaml({ apiVersion: 'v1', clusters, ...none, kind: 'Config' });
}

/** The configuration that all kubelets of the cluster share, as kubeadm keeps it. */
export const kubeletConfiguration = () => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
  },
  authorization: { mode: 'Webhook' },
  clusterDNS: [clusterNetworks.dnsServiceIp],
  clusterDomain: clusterNetworks.domain,
  cgroupDriver: 'cgroupfs',
  rotateCertificates: true,
  serverTLSBootstrap: true,
  staticPodPath: '/etc/kubernetes/manifests',
});

function extraArgs(name: string, words: readonly string[] = []): Record<string, object> {
  if (words.length === 0) return {};
  const pairs = words.map((word) => /^--([^=]+)(?:=([^]*))?$/.exec(word) ?? []);
  return { [name]: { extraArgs: pairs.map(([, flag = '', value = 'true']) => ({ name: flag, value })) } };
}

/** kubeadm, too, lets a control plane grow only where it has an endpoint of its own. */
const clusterConfiguration = ({ cluster, endpoint, podCidr, growing, args }: JoiningFacts) => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  clusterName: cluster,
  certificatesDir: '/etc/kubernetes/pki',
  ...(growing && { controlPlaneEndpoint: endpoint, etcd: { local: { dataDir: '/var/lib/etcd' } } }),
  ...extraArgs('apiServer', args['kube-apiserver']),
  ...extraArgs('controllerManager', args['kube-controller-manager']),
  ...extraArgs('scheduler', args['kube-scheduler']),
  kubernetesVersion: gitVersion.replace(/\+.*$/, ''),
  networking: { dnsDomain: clusterNetworks.domain, podSubnet: podCidr, serviceSubnet: clusterNetworks.serviceCidr },
});

const kubeProxyConfiguration = ({ podCidr, proxyMode }: JoiningFacts) => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  bindAddress: '0.0.0.0',
  clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
  clusterCIDR: podCidr,
  mode: proxyMode,
});

/** The objects by which machines find and join the cluster. They are applied at every start. */
export function joiningObjects(facts: JoiningFacts): Entry[] {
  const both = groups(bootstrapGroup, nodesGroup);
  const csr = 'system:certificates.k8s.io:certificatesigningrequests';
  return [
    configMap('cluster-info', 'kube-public', { kubeconfig: clusterInfo(facts) }),
    ...readable('kubeadm:bootstrap-signer-clusterinfo', 'kube-public', 'cluster-info', [
      { kind: 'User', name: 'system:anonymous', apiGroup: rbac },
    ]),
    configMap('kubelet-config', 'kube-system', { kubelet: formatYaml(kubeletConfiguration()) }),
    ...readable('kubeadm:kubelet-config', 'kube-system', 'kubelet-config', both),
    configMap('kubeadm-config', 'kube-system', { ClusterConfiguration: formatYaml(clusterConfiguration(facts)) }),
    ...readable('kubeadm:nodes-kubeadm-config', 'kube-system', 'kubeadm-config', both),
    configMap('kube-proxy', 'kube-system', { 'config.conf': formatYaml(kubeProxyConfiguration(facts)) }),
    ...readable('kube-proxy', 'kube-system', 'kube-proxy', both),
    // For who asks kubelets from a pod, as a metrics-server does.
    configMap(kubeletAuthorityName, 'kube-system', { 'ca.crt': facts.kubeletTrust }),
    configMap('sagong-config', 'kube-system', { networkPolicy: facts.networkPolicy }),
    ...readable('sagong:config', 'kube-system', 'sagong-config', both),
    ...(facts.growing
      ? readable('kubeadm:kubeadm-certs', 'kube-system', certificatesSecret, groups(bootstrapGroup), 'secrets')
      : []),
    clusterBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', groups(bootstrapGroup)),
    clusterBinding('kubeadm:node-autoapprove-bootstrap', `${csr}:nodeclient`, groups(bootstrapGroup)),
    clusterBinding('kubeadm:node-autoapprove-certificate-rotation', `${csr}:selfnodeclient`, groups(nodesGroup)),
    clusterRole('kubeadm:get-nodes', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
    clusterBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', groups(bootstrapGroup)),
    // A machine that leaves takes its own Node with it; which one that is, NodeRestriction sees to.
    clusterRole('sagong:leave', [{ apiGroups: [''], resources: ['nodes'], verbs: ['delete'] }]),
    clusterBinding('sagong:leave', 'sagong:leave', groups(nodesGroup)),
  ];
}
