// The control plane of one machine as static pods, in the shape that kubeadm gives them
// (https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/#generate-static-pod-manifests-for-control-plane-components). Pure.
import type { Container, Pod, Probe, Volume, VolumeMount } from '#api/core/v1';
import { componentWords, etcdWords } from '../control-planes/commands.ts';
import type { ControlPlaneConfig, ControlPlaneProgram } from '../control-planes/config.ts';
import type { Membership } from '../control-planes/member.ts';
import { apiPort, etcdPorts } from '../control-planes/names.ts';
import { systemImage } from './names.ts';
import { etcdDataDir, kubernetesDir } from '../control-planes/places.ts';

/** A pod is another one when this is: its program reads what it stands for only once, at its start. */
const certificatesAnnotation = 'sagong.dev/certificates';

type HostPathType = 'DirectoryOrCreate' | 'FileOrCreate';
interface Mounted {
  name: string;
  path: string;
  type: HostPathType;
  writable?: boolean;
}

const pki: Mounted = { name: 'k8s-certs', path: `${kubernetesDir}/pki`, type: 'DirectoryOrCreate' };
const authorities: Mounted[] = [
  { name: 'ca-certs', path: '/etc/ssl/certs', type: 'DirectoryOrCreate' },
  { name: 'usr-share-ca-certificates', path: '/usr/share/ca-certificates', type: 'DirectoryOrCreate' },
];
const kubeconfig = (name: string): Mounted => ({
  name: 'kubeconfig',
  path: `${kubernetesDir}/${name}.conf`,
  type: 'FileOrCreate',
});

interface Part {
  mounts: readonly Mounted[];
  requests: Record<string, string>;
  /** The port of its health endpoints. */
  port: number;
  scheme: 'HTTP' | 'HTTPS';
  paths: { live: string; ready?: string };
  annotations?: Record<string, string>;
  /** Default: loopback. */
  host?: string;
}

function partOf(program: ControlPlaneProgram, { address }: ControlPlaneConfig): Part {
  const parts: Record<ControlPlaneProgram, Part> = {
    etcd: {
      mounts: [
        { name: 'etcd-data', path: etcdDataDir, type: 'DirectoryOrCreate', writable: true },
        { name: 'etcd-certs', path: `${kubernetesDir}/pki/etcd`, type: 'DirectoryOrCreate' },
      ],
      requests: { cpu: '100m', memory: '100Mi' },
      ...{ port: etcdPorts.metrics, scheme: 'HTTP', paths: { live: '/health' } },
      annotations: { 'kubeadm.kubernetes.io/etcd.advertise-client-urls': `https://${address}:${etcdPorts.client}` },
    },
    'kube-apiserver': {
      mounts: [...authorities, pki],
      requests: { cpu: '250m' },
      ...{ host: address, port: apiPort, scheme: 'HTTPS', paths: { live: '/livez', ready: '/readyz' } },
      annotations: { 'kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint': `${address}:${apiPort}` },
    },
    'kube-controller-manager': {
      mounts: [...authorities, pki, kubeconfig('controller-manager')],
      requests: { cpu: '200m' },
      ...{ port: 10_257, scheme: 'HTTPS', paths: { live: '/healthz' } },
    },
    'kube-scheduler': {
      mounts: [kubeconfig('scheduler'), pki],
      requests: { cpu: '100m' },
      ...{ port: 10_259, scheme: 'HTTPS', paths: { live: '/livez', ready: '/readyz' } },
    },
    'cloud-controller-manager': {
      mounts: [
        ...authorities,
        pki,
        kubeconfig('cloud-controller-manager'),
        { name: 'cloud-config', path: `${kubernetesDir}/cloud`, type: 'DirectoryOrCreate' },
      ],
      requests: { cpu: '100m' },
      ...{ port: 10_258, scheme: 'HTTPS', paths: { live: '/healthz' } },
    },
  };
  return parts[program];
}

const mountOf = ({ name, path: mountPath, writable = false }: Mounted): VolumeMount => ({
  mountPath,
  name,
  ...(!writable && { readOnly: true }),
});
const volumeOf = ({ name, path, type }: Mounted): Volume => ({ hostPath: { path, type }, name });

/** The probes that kubeadm writes, with its timeouts and thresholds. */
function probesOf({
  host = '127.0.0.1',
  port,
  scheme,
  paths,
}: Part): Pick<Container, 'livenessProbe' | 'readinessProbe' | 'startupProbe'> {
  const get = (path: string): Probe => ({ httpGet: { host, path, port, scheme }, timeoutSeconds: 15 });
  const { live, ready } = paths;
  return {
    livenessProbe: { ...get(live), failureThreshold: 8, initialDelaySeconds: 10, periodSeconds: 10 },
    ...(ready !== undefined && { readinessProbe: { ...get(ready), failureThreshold: 3, periodSeconds: 1 } }),
    startupProbe: { ...get(live), failureThreshold: 24, initialDelaySeconds: 10, periodSeconds: 10 },
  };
}

/** The configuration of a component as its program in the pod reads it: all paths are those inside the pod. */
const inPod = (config: ControlPlaneConfig): ControlPlaneConfig => ({
  ...config,
  directory: kubernetesDir,
  ...(config.encryptionConfig !== undefined && { encryptionConfig: `${kubernetesDir}/pki/encryption.json` }),
});

function commandOf(program: ControlPlaneProgram, config: ControlPlaneConfig, membership: Membership): string[] {
  const inner = inPod(config);
  if (program !== 'etcd') return componentWords(inner, program);
  return ['etcd', ...etcdWords(inner, membership), `--listen-metrics-urls=http://127.0.0.1:${etcdPorts.metrics}`];
}

export interface ManifestOptions {
  config: ControlPlaneConfig;
  /** The members with which etcd begins. */
  membership: Membership;
  /** A digest of what the program reads once. */
  certificates: string;
}

export function staticPod(program: ControlPlaneProgram, { config, membership, certificates }: ManifestOptions): Pod {
  const part = partOf(program, config);
  const { mounts, requests, annotations } = part;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      annotations: { ...annotations, ...(certificates !== '' && { [certificatesAnnotation]: certificates }) },
      labels: { component: program, tier: 'control-plane' },
      name: program,
      namespace: 'kube-system',
    },
    spec: {
      containers: [
        {
          command: commandOf(program, config, membership),
          image: systemImage,
          imagePullPolicy: 'IfNotPresent',
          name: program,
          ...probesOf(part),
          resources: { requests },
          volumeMounts: mounts.map(mountOf),
        },
      ],
      hostNetwork: true,
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      volumes: mounts.map(volumeOf),
    },
  } as Pod;
}
