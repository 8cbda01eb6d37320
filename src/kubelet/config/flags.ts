// The kubelet's flags, with upstream's names and defaults (cmd/kubelet/app/options). Those that are also in the configuration file win over it.
import {
  fixedFeatureGateFlags,
  type Flag,
  flag,
  type FlagOptions,
  flagsWithoutEffect,
  type FlagType,
  type FlagValues,
  loggingFlags,
  refusedFlags,
} from '#component-base';
import { defaultOptions } from '../options.ts';
import { refused, withoutEffect } from './unserved-flags.ts';

const section = 'Kubelet';
/** The defaults of options that are flags as well. */
const usual = defaultOptions('');

/** `signal<value`, comma separated. */
const thresholdsType: FlagType<Record<string, string>> = {
  name: 'mapStringString',
  parse: (text) =>
    Object.fromEntries(
      text
        .split(',')
        .filter((pair) => pair !== '')
        .map((pair) => {
          const at = pair.indexOf('<');
          if (at < 0) throw new Error(`malformed pair, expect string<string`);
          return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
        }),
    ),
  format: (pairs) =>
    Object.entries(pairs)
      .map((pair) => pair.join('<'))
      .sort()
      .join(','),
  join: (first, next) => ({ ...first, ...next }),
};
const thresholds = (options: FlagOptions<Record<string, string>>): Flag<Record<string, string>> => ({
  ...options,
  type: thresholdsType,
});

export const kubeletFlags = {
  ...loggingFlags(),
  ...fixedFeatureGateFlags(),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
  kubeconfig: flag.string({
    name: 'kubeconfig',
    default: '',
    help: 'Path to a kubeconfig file, specifying how to connect to the API server.',
    section,
  }),
  bootstrapKubeconfig: flag.string({
    name: 'bootstrap-kubeconfig',
    default: '',
    help: 'Path to a kubeconfig that asks for the client certificate of the kubelet, where --kubeconfig is missing or its certificate is over; --kubeconfig is then written.',
    section,
  }),
  rotateCertificates: flag.bool({
    name: 'rotate-certificates',
    default: false,
    help: 'Ask for a new client certificate from the cluster before the one in use ends.',
    section,
  }),
  rotateServerCertificates: flag.bool({
    name: 'rotate-server-certificates',
    default: false,
    help: 'Ask for the serving certificate from the cluster, and again before it ends. Somebody has to approve it.',
    section,
  }),
  config: flag.string({
    name: 'config',
    default: '',
    help: 'File with a KubeletConfiguration (kubelet.config.k8s.io/v1beta1).',
    section,
  }),
  hostnameOverride: flag.string({
    name: 'hostname-override',
    default: '',
    help: "Name to use instead of the machine's host name.",
    section,
  }),
  nodeIp: flag.string({
    name: 'node-ip',
    default: '',
    help: "Address of the node, or two of different families, comma separated. 0.0.0.0 or '::' choose the family only. With --cloud-provider=external a hint for the cloud.",
    section,
  }),
  containerRuntimeEndpoint: flag.string({
    name: 'container-runtime-endpoint',
    default: '',
    help: 'Endpoint of the container runtime service, e.g. unix:///run/containerd/containerd.sock.',
    section,
  }),
  podManifestPath: flag.string({ name: 'pod-manifest-path', default: '', help: 'Directory of static pod files.', section }),
  clusterDns: flag.strings({
    name: 'cluster-dns',
    default: [],
    help: 'Addresses of the cluster DNS server, given to pods with dnsPolicy ClusterFirst.',
    section,
  }),
  clusterDomain: flag.string({
    name: 'cluster-domain',
    default: '',
    help: "Domain of the cluster, searched by pods besides the host's.",
    section,
  }),
  registerNode: flag.bool({
    name: 'register-node',
    default: usual.registerNode,
    help: 'Register the node with the API server.',
    section,
  }),
  registerWithTaints: flag.strings({
    name: 'register-with-taints',
    default: [],
    help: 'Register the node with these taints: <key>=<value>:<effect>, comma separated.',
    section,
  }),
  nodeLabels: flag.configurationMap({
    name: 'node-labels',
    default: {},
    help: 'Labels to add when registering the node: key=value, comma separated.',
    section,
  }),
  rootDir: flag.string({
    name: 'root-dir',
    default: usual.rootDir,
    help: "Directory for the kubelet's files (volume mounts, etc.).",
    section,
  }),
  podLogsDir: flag.string({
    name: 'pod-logs-dir',
    default: '',
    help: 'Directory of pod logs (podLogsDir of the configuration).',
    section,
  }),
  cgroupRoot: flag.string({ name: 'cgroup-root', default: '', help: 'Cgroup under which pods are put.', section }),
  cgroupDriver: flag.choice(['cgroupfs', 'systemd'] as const, {
    name: 'cgroup-driver',
    default: usual.cgroupDriver,
    help: 'Driver the kubelet uses for cgroups: cgroupfs or systemd.',
    section,
  }),
  certDir: flag.string({
    name: 'cert-dir',
    default: '/var/lib/kubelet/pki',
    help: 'Directory of certificates that are asked for from the cluster, and of the serving certificate where one is made.',
    section,
  }),
  enableServer: flag.bool({ name: 'enable-server', default: true, help: "Serve the kubelet's API.", section }),
  healthzBindAddress: flag.string({
    name: 'healthz-bind-address',
    default: '127.0.0.1',
    help: 'Address of /healthz without authentication.',
    section,
  }),
  healthzPort: flag.int({ name: 'healthz-port', default: 10_248, help: 'Port of that /healthz; 0 serves none.', section }),
  kubeReserved: flag.stringMap({
    name: 'kube-reserved',
    default: {},
    help: 'Amounts kept for the parts of Kubernetes, e.g. cpu=200m,memory=500Mi.',
    section,
  }),
  systemReserved: flag.stringMap({
    name: 'system-reserved',
    default: {},
    help: 'Amounts kept for the system, e.g. cpu=200m,memory=500Mi.',
    section,
  }),
  minimumImageTtlMs: flag.duration({
    name: 'minimum-image-ttl-duration',
    default: usual.imageAgeMsMin,
    help: 'Younger images are not collected.',
    section,
  }),
  seccompDefault: flag.bool({
    name: 'seccomp-default',
    default: usual.seccompDefault,
    help: 'Containers without a seccomp profile get RuntimeDefault.',
    section,
  }),
  tlsCipherSuites: flag.strings({
    name: 'tls-cipher-suites',
    default: [],
    help: 'Cipher suites for TLS 1.2 by their IANA names. Default: those of Node.',
    section,
  }),
  tlsMinVersion: flag.string({
    name: 'tls-min-version',
    default: '',
    help: 'Lowest TLS version: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13. TLS 1.2 is spoken at the least.',
    section,
  }),
  cgroupsPerQos: flag.bool({
    name: 'cgroups-per-qos',
    default: usual.cgroupsPerQOS,
    help: 'Make a cgroup for each quality-of-service class and each pod.',
    section,
  }),
  maxPods: flag.int({ name: 'max-pods', default: usual.podsMax, help: 'Number of pods that can run on this node.', section }),
  port: flag.int({ name: 'port', default: usual.port, help: "Port of the kubelet's server.", section }),
  address: flag.string({ name: 'address', default: usual.address, help: 'Address the kubelet serves on.', section }),
  tlsCertFile: flag.string({
    name: 'tls-cert-file',
    default: '',
    help: 'x509 certificate for serving HTTPS. Without it one is made and signed by itself.',
    section,
  }),
  tlsPrivateKeyFile: flag.string({
    name: 'tls-private-key-file',
    default: '',
    help: 'Private key for --tls-cert-file.',
    section,
  }),
  clientCaFile: flag.string({
    name: 'client-ca-file',
    default: '',
    help: 'Client certificates signed by one of these authorities are identified by their common name.',
    section,
  }),
  anonymousAuth: flag.bool({
    name: 'anonymous-auth',
    default: true,
    help: 'Serve requests without credentials as system:anonymous.',
    section,
  }),
  authenticationTokenWebhook: flag.bool({
    name: 'authentication-token-webhook',
    default: false,
    help: 'Use the TokenReview API for bearer tokens.',
    section,
  }),
  authorizationMode: flag.choice(['AlwaysAllow', 'Webhook'] as const, {
    name: 'authorization-mode',
    default: 'AlwaysAllow',
    help: "Authorization of the kubelet's server: AlwaysAllow or Webhook (SubjectAccessReview).",
    section,
  }),
  cloudProvider: flag.string({
    name: 'cloud-provider',
    default: '',
    help: 'Empty, or external: the node stays tainted until a cloud-controller-manager has completed it.',
    section,
  }),
  providerId: flag.string({ name: 'provider-id', default: '', help: 'Identifier of the machine in its cloud.', section }),
  resolvConf: flag.string({
    name: 'resolv-conf',
    default: usual.resolvConf,
    help: "Resolver configuration for pods that use the host's.",
    section,
  }),
  evictionHard: thresholds({
    name: 'eviction-hard',
    default: {},
    help: 'Thresholds below which pods are evicted, e.g. memory.available<100Mi.',
    section,
  }),
  evictionSoft: thresholds({
    name: 'eviction-soft',
    default: {},
    help: 'Thresholds that evict pods when they were met for a grace period, e.g. memory.available<1.5Gi.',
    section,
  }),
  evictionSoftGracePeriod: flag.stringMap({
    name: 'eviction-soft-grace-period',
    default: {},
    help: 'Grace periods of soft thresholds, e.g. memory.available=1m30s.',
    section,
  }),
  evictionMinimumReclaim: flag.stringMap({
    name: 'eviction-minimum-reclaim',
    default: {},
    help: 'How much more than a threshold is reclaimed once it was met, e.g. imagefs.available=2Gi.',
    section,
  }),
  evictionMaxPodGracePeriod: flag.int({
    name: 'eviction-max-pod-grace-period',
    default: usual.eviction.maxPodGraceSeconds,
    help: 'Longest grace in seconds of pods that a soft threshold evicts.',
    section,
  }),
  evictionPressureTransitionMs: flag.duration({
    name: 'eviction-pressure-transition-period',
    default: usual.eviction.pressureTransitionMs,
    help: 'How long pressure is reported after it has gone.',
    section,
  }),
  allowedUnsafeSysctls: flag.strings({
    name: 'allowed-unsafe-sysctls',
    default: [],
    help: 'Unsafe sysctls, or patterns of them that end in *, that pods may set.',
    section,
  }),
  podMaxPids: flag.int({
    name: 'pod-max-pids',
    default: usual.podPidsMax,
    help: 'Most processes of one pod; -1: as many as the node can have.',
    section,
  }),
  protectKernelDefaults: flag.bool({
    name: 'protect-kernel-defaults',
    default: usual.protectKernelDefaults,
    help: 'Do not start on a kernel whose settings are not those that the kubelet relies on. They are never changed.',
    section,
  }),
  serializeImagePulls: flag.bool({
    name: 'serialize-image-pulls',
    default: usual.serializeImagePulls,
    help: 'Pull one image at a time.',
    section,
  }),
  imageGcHighThreshold: flag.int({
    name: 'image-gc-high-threshold',
    default: usual.imageGcHighPercent,
    help: 'Percent of disk usage above which images are collected.',
    section,
  }),
  imageGcLowThreshold: flag.int({
    name: 'image-gc-low-threshold',
    default: usual.imageGcLowPercent,
    help: 'Percent of disk usage down to which images are collected.',
    section,
  }),
  containerLogMaxSize: flag.string({
    name: 'container-log-max-size',
    default: '10Mi',
    help: 'Size above which a container log is rotated.',
    section,
  }),
  containerLogMaxFiles: flag.int({
    name: 'container-log-max-files',
    default: usual.containerLogMaxFiles,
    help: 'Log files kept per container.',
    section,
  }),
  nodeStatusUpdateFrequencyMs: flag.duration({
    name: 'node-status-update-frequency',
    default: usual.nodeStatusUpdateMs,
    help: "How often the node's status is computed.",
    section,
  }),
  podInfraContainerImage: flag.string({
    name: 'pod-infra-container-image',
    default: '',
    help: 'Sandbox image, spared by image collection.',
    section,
  }),
};

export type KubeletFlagValues = FlagValues<typeof kubeletFlags>;
