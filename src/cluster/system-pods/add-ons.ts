// kube-proxy and cluster DNS as pods, with the names, labels and rights that kubeadm gives them
// (https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/#addons). Pure.
import { formatYaml } from '#apimachinery/codec';
import type { Applied } from '../objects/apply.ts';
import { clusterNetworks } from '../state/networks.ts';
import { controlPlaneTaint, systemImage } from './names.ts';

const namespace = 'kube-system';
const rbac = 'rbac.authorization.k8s.io';

interface Entry {
  resource: string;
  object: Applied;
}

export interface AddOnFacts {
  /** `https://198.18.0.5:6443`. */
  server: string;
  podCidr: string;
  proxyMode: string;
  /** A user's flags of kube-proxy. */
  proxyArgs: readonly string[];
}

const account = (name: string): Entry => ({
  resource: 'serviceaccounts',
  object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
});
const configMap = (name: string, labels: Record<string, string> | undefined, data: Record<string, string>): Entry => ({
  resource: 'configmaps',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...(labels && { labels }) }, data },
});

const serviceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';
const proxyDir = '/var/lib/kube-proxy';
const proxyLabels = { 'k8s-app': 'kube-proxy' };

function proxyConfiguration({ podCidr, proxyMode }: AddOnFacts): string {
  return formatYaml({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    bindAddress: '0.0.0.0',
    clientConnection: { kubeconfig: `${proxyDir}/kubeconfig.conf` },
    clusterCIDR: podCidr,
    mode: proxyMode,
  });
}

/** A kubeconfig with the pod's own service account. It does not lead through the Service, which this pod itself makes reachable. */
function proxyKubeconfig({ server }: AddOnFacts): string {
  const name = 'default';
  return formatYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ cluster: { 'certificate-authority': `${serviceAccountDir}/ca.crt`, server }, name }],
    contexts: [{ context: { cluster: name, namespace: 'default', user: name }, name }],
    'current-context': name,
    users: [{ name, user: { tokenFile: `${serviceAccountDir}/token` } }],
  });
}

const proxyDaemonSet = ({ proxyArgs }: AddOnFacts): Applied => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { labels: proxyLabels, name: 'kube-proxy', namespace },
  spec: {
    revisionHistoryLimit: 10,
    selector: { matchLabels: proxyLabels },
    template: {
      metadata: { labels: proxyLabels },
      spec: {
        containers: [
          {
            command: [
              '/usr/local/bin/kube-proxy',
              `--config=${proxyDir}/config.conf`,
              '--hostname-override=$(NODE_NAME)',
              ...proxyArgs,
            ],
            env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } }],
            image: systemImage,
            imagePullPolicy: 'IfNotPresent',
            name: 'kube-proxy',
            securityContext: { privileged: true },
            volumeMounts: [
              { mountPath: proxyDir, name: 'kube-proxy' },
              { mountPath: '/run/xtables.lock', name: 'xtables-lock' },
              { mountPath: '/lib/modules', name: 'lib-modules', readOnly: true },
            ],
          },
        ],
        hostNetwork: true,
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        priorityClassName: 'system-node-critical',
        serviceAccountName: 'kube-proxy',
        tolerations: [{ operator: 'Exists' }],
        volumes: [
          { configMap: { name: 'kube-proxy' }, name: 'kube-proxy' },
          { hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' }, name: 'xtables-lock' },
          { hostPath: { path: '/lib/modules', type: '' }, name: 'lib-modules' },
        ],
      },
    },
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
  },
});

function kubeProxy(facts: AddOnFacts): Entry[] {
  return [
    account('kube-proxy'),
    {
      resource: 'clusterrolebindings',
      object: {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'kubeadm:node-proxier' },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:node-proxier' },
        subjects: [{ kind: 'ServiceAccount', name: 'kube-proxy', namespace }],
      },
    },
    configMap(
      'kube-proxy',
      { app: 'kube-proxy' },
      { 'config.conf': proxyConfiguration(facts), 'kubeconfig.conf': proxyKubeconfig(facts) },
    ),
    { resource: 'daemonsets', object: proxyDaemonSet(facts) },
  ];
}

const dnsLabels = { 'k8s-app': 'kube-dns' };
const corefile = `.:53 {
    errors
    health
    ready
    kubernetes ${clusterNetworks.domain} in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
    loadbalance
}
`;

const dnsContainer = {
  command: ['coredns', '--conf', '/etc/coredns/Corefile'],
  image: systemImage,
  imagePullPolicy: 'IfNotPresent',
  livenessProbe: {
    failureThreshold: 5,
    httpGet: { path: '/health', port: 'liveness-probe', scheme: 'HTTP' },
    initialDelaySeconds: 60,
    timeoutSeconds: 5,
  },
  name: 'coredns',
  ports: [
    { containerPort: 53, name: 'dns', protocol: 'UDP' },
    { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
    { containerPort: 8080, name: 'liveness-probe', protocol: 'TCP' },
    { containerPort: 8181, name: 'readiness-probe', protocol: 'TCP' },
  ],
  readinessProbe: { httpGet: { path: '/ready', port: 'readiness-probe', scheme: 'HTTP' } },
  resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  },
  volumeMounts: [{ mountPath: '/etc/coredns', name: 'config-volume', readOnly: true }],
};

const dnsDeployment: Applied = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { labels: dnsLabels, name: 'coredns', namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: dnsLabels },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    template: {
      metadata: { labels: dnsLabels },
      spec: {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                podAffinityTerm: {
                  labelSelector: { matchExpressions: [{ key: 'k8s-app', operator: 'In', values: ['kube-dns'] }] },
                  topologyKey: 'kubernetes.io/hostname',
                },
                weight: 100,
              },
            ],
          },
        },
        containers: [dnsContainer],
        dnsPolicy: 'Default',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        priorityClassName: 'system-cluster-critical',
        serviceAccountName: 'coredns',
        tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }, controlPlaneTaint],
        volumes: [{ configMap: { items: [{ key: 'Corefile', path: 'Corefile' }], name: 'coredns' }, name: 'config-volume' }],
      },
    },
  },
};

/** Its Service and its rights are those of every cluster (dns-addon.ts). */
const dns: Entry[] = [
  account('coredns'),
  configMap('coredns', undefined, { Corefile: corefile }),
  { resource: 'deployments', object: dnsDeployment },
];

export const addOns = (facts: AddOnFacts): Entry[] => [...kubeProxy(facts), ...dns];
