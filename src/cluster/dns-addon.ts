// Cluster DNS as an add-on: the Service `kube-dns` that kubelets point pods at, with this process's name server behind it.
import type { KubeClient } from '#client';
import { applyObjects } from './apply.ts';
import { clusterNetworks } from './settings.ts';

const namespace = 'kube-system';
const ports = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];

const role = 'system:coredns';
const rbac = 'rbac.authorization.k8s.io/v1';

/** What the name server may read, as kubeadm grants it. Must be in place before it starts to watch. */
export const grantDns = (client: KubeClient): Promise<void> =>
  applyObjects(client, [
    {
      resource: 'clusterroles',
      object: {
        apiVersion: rbac,
        kind: 'ClusterRole',
        metadata: { name: role },
        rules: [
          { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
          { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
        ],
      },
    },
    {
      resource: 'clusterrolebindings',
      object: {
        apiVersion: rbac,
        kind: 'ClusterRoleBinding',
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', name: 'coredns', namespace }],
      },
    },
  ]);

/** Publishes a name server at `address` as the cluster's. */
export const publishDns = (client: KubeClient, address: string): Promise<void> =>
  applyObjects(client, [
    {
      resource: 'services',
      object: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name: 'kube-dns',
          namespace,
          labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
        },
        spec: { clusterIP: clusterNetworks.dnsServiceIp, ports: ports.map((port) => ({ ...port, targetPort: port.port })) },
      },
    },
    {
      resource: 'endpointslices',
      object: {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: 'kube-dns-host',
          namespace,
          labels: { 'kubernetes.io/service-name': 'kube-dns', 'endpointslice.kubernetes.io/managed-by': 'sagong' },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: [address], conditions: { ready: true, serving: true, terminating: false } }],
        ports,
      },
    },
  ]);
