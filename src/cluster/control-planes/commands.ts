// The command lines of a control-plane machine, with upstream's flags, as kubeadm writes them into its static pods. Pure.
import { clusterNetworks } from '../state/networks.ts';
import { type ControlPlaneConfig, controlPlaneFiles, type ControlPlaneProgram, filesOf } from './config.ts';
import { apiPort, etcdPorts } from './names.ts';

type Flags = Record<string, string | number | boolean>;
const words = (flags: Flags): string[] => Object.entries(flags).map(([name, value]) => `--${name}=${value}`);

const local = '127.0.0.1';
export const peerUrl = (address: string): string => `https://${address}:${etcdPorts.peer}`;
const clientUrl = (address: string): string => `https://${address}:${etcdPorts.client}`;

/** `cluster`: name and peer URL of every member, the others started or not; `fresh`: they begin together, with nothing stored. */
export function etcdWords(
  config: ControlPlaneConfig,
  { cluster, fresh }: { cluster: [string, string][]; fresh: boolean },
): string[] {
  const { name, address, etcdToken } = config;
  const files = filesOf(config);
  return words({
    name,
    'data-dir': files.etcdData,
    'listen-client-urls': `${clientUrl(local)},${clientUrl(address)}`,
    'advertise-client-urls': clientUrl(address),
    'listen-peer-urls': peerUrl(address),
    'initial-advertise-peer-urls': peerUrl(address),
    'initial-cluster': cluster.map(([member, url]) => `${member}=${url}`).join(','),
    'initial-cluster-state': fresh ? 'new' : 'existing',
    'initial-cluster-token': etcdToken,
    'client-cert-auth': true,
    'trusted-ca-file': files.etcdCa,
    'cert-file': files.etcdServer.cert,
    'key-file': files.etcdServer.key,
    'peer-client-cert-auth': true,
    'peer-trusted-ca-file': files.etcdCa,
    'peer-cert-file': files.etcdPeer.cert,
    'peer-key-file': files.etcdPeer.key,
    // A member that was cut off does not make the others elect anew when it comes back.
    'pre-vote': true,
    'log-level': 'warn',
    logger: 'zap',
  });
}

/** Upstream's, of the managers' and the scheduler's own endpoints. */
const ports = { controllerManager: 10257, cloudControllerManager: 10258, scheduler: 10259 };

function apiserver({
  address,
  auditLog,
  cloud,
  directory,
  encryptionConfig,
  kubeletAuthority,
  customer,
  port = apiPort,
}: ControlPlaneConfig): Flags {
  const files = controlPlaneFiles(directory);
  return {
    'advertise-address': customer?.address ?? address,
    'bind-address': '0.0.0.0',
    'secure-port': port,
    'allow-privileged': true,
    'authorization-mode': 'Node,RBAC',
    'client-ca-file': files.ca,
    'enable-admission-plugins': 'NodeRestriction',
    'enable-aggregator-routing': true,
    'enable-bootstrap-token-auth': true,
    // The member beside it, as kubeadm has it: who loses either of them is no longer ready, and its load balancer looks elsewhere.
    'etcd-servers': clientUrl(local),
    'etcd-cafile': files.etcdCa,
    'etcd-certfile': files.etcdClient.cert,
    'etcd-keyfile': files.etcdClient.key,
    'kubelet-certificate-authority': kubeletAuthority ? files.kubeletTrust : files.ca,
    'kubelet-client-certificate': files.kubeletClient.cert,
    'kubelet-client-key': files.kubeletClient.key,
    'kubelet-preferred-address-types': 'InternalIP,Hostname,ExternalIP',
    'proxy-client-cert-file': files.frontProxyClient.cert,
    'proxy-client-key-file': files.frontProxyClient.key,
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-client-ca-file': files.frontProxyCa,
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'service-account-issuer': `https://kubernetes.default.svc.${clusterNetworks.domain}`,
    'service-account-key-file': files.serviceAccountPublic,
    'service-account-signing-key-file': files.serviceAccountPrivate,
    'service-cluster-ip-range': clusterNetworks.serviceCidr,
    'tls-cert-file': files.apiserver.cert,
    'tls-private-key-file': files.apiserver.key,
    'metrics-from-kubelets': true,
    'decisions-from': (['controllerManager', 'scheduler', ...(cloud ? (['cloudControllerManager'] as const) : [])] as const)
      .map((of) => `https://${local}:${ports[of]}`)
      .join(','),
    ...(encryptionConfig !== undefined && { 'encryption-provider-config': encryptionConfig }),
    ...(auditLog !== undefined && {
      'audit-policy-file': files.auditPolicy,
      'audit-log-path': auditLog === '-' ? auditLog : `${files.logs}/${auditLog}`,
    }),
  };
}

/** The flags of components that ask the apiserver of their own machine and serve their health on loopback. */
const client = (kubeconfig: string, files: ReturnType<typeof controlPlaneFiles>): Flags => ({
  kubeconfig,
  'authentication-kubeconfig': kubeconfig,
  'authorization-kubeconfig': kubeconfig,
  'bind-address': local,
  'client-ca-file': files.ca,
  'requestheader-client-ca-file': files.frontProxyCa,
});

/** One authority for all signers, or one for each of them: upstream's flags know nothing between. */
function signing({ directory, kubeletAuthority }: ControlPlaneConfig): Flags {
  const { ca, caKey, kubeletAuthority: ofKubelets } = controlPlaneFiles(directory);
  const pair = (signer: string, cert: string, key: string): Flags => ({
    [`cluster-signing-${signer}cert-file`]: cert,
    [`cluster-signing-${signer}key-file`]: key,
  });
  if (!kubeletAuthority) return pair('', ca, caKey);
  return {
    ...pair('kubelet-serving-', ofKubelets.cert, ofKubelets.key),
    ...pair('kubelet-client-', ca, caKey),
    ...pair('kube-apiserver-client-', ca, caKey),
    ...pair('legacy-unknown-', ca, caKey),
  };
}

function controllerManager(config: ControlPlaneConfig): Flags {
  const { directory, podCidr } = config;
  const files = controlPlaneFiles(directory);
  return {
    ...client(files.controllerManager, files),
    'allocate-node-cidrs': true,
    'cluster-cidr': podCidr,
    ...signing(config),
    controllers: '*,bootstrap-signer-controller,token-cleaner-controller',
    'leader-elect': true,
    'root-ca-file': files.ca,
    'service-account-private-key-file': files.serviceAccountPrivate,
    'service-cluster-ip-range': clusterNetworks.serviceCidr,
    'use-service-account-credentials': true,
  };
}

function cloudControllerManager({ cluster, directory, podCidr }: ControlPlaneConfig): Flags {
  const files = controlPlaneFiles(directory);
  return {
    ...client(files.cloudControllerManager, files),
    'cloud-config': files.cloudConfig,
    'cloud-provider': 'local',
    'cluster-cidr': podCidr,
    'cluster-name': cluster,
    'concurrent-node-syncs': 16,
    'concurrent-service-syncs': 16,
    'configure-cloud-routes': true,
    // Nothing is scheduled to a node before its route: look soon, but only when nodes change.
    'feature-gates': 'CloudControllerManagerWatchBasedRoutesReconciliation=true',
    'route-reconciliation-period': '200ms',
    'leader-elect': true,
  };
}

/** The command line by which this program runs one of the components. */
export function componentWords(config: ControlPlaneConfig, program: Exclude<ControlPlaneProgram, 'etcd'>): string[] {
  const files = controlPlaneFiles(config.directory);
  const flags = {
    'kube-apiserver': () => apiserver(config),
    'kube-controller-manager': () => controllerManager(config),
    'kube-scheduler': () => ({ ...client(files.scheduler, files), 'leader-elect': true }),
    'cloud-controller-manager': () => cloudControllerManager(config),
  };
  return [program, ...words(flags[program]()), ...(config.args[program] ?? [])];
}
