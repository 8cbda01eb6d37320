// Flags of kube-apiserver with upstream's names and defaults (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/).
// `--data-dir` is our own: where the embedded store lives when no etcd is given; so are those of ./own-flags.ts.
import { fixedFeatureGateFlags, flag, flagsWithoutEffect, loggingFlags, refusedFlags, versionFlags } from '#component-base';
import { secureServingFlags } from '#component-base/serving';
import { auditFlags } from '../audit/index.ts';
import { settingsFlags } from '../settings.ts';
import { identityFlags } from './identity-flags.ts';
import { ownFlags } from './own-flags.ts';
import { servingFlags, storageFlags, tokenFlags } from './serving-flags.ts';
import { refused, withoutEffect } from './unserved-flags.ts';

const etcd = {
  etcdServers: flag.strings({
    name: 'etcd-servers',
    default: [],
    help: 'List of etcd servers to connect with (scheme://ip:port). None: the embedded store at --data-dir.',
    section: 'Etcd',
  }),
  etcdCaFile: flag.string({
    name: 'etcd-cafile',
    default: '',
    help: 'Certificate authority of the etcd servers.',
    section: 'Etcd',
  }),
  etcdCertFile: flag.string({ name: 'etcd-certfile', default: '', help: 'Client certificate for etcd.', section: 'Etcd' }),
  etcdKeyFile: flag.string({ name: 'etcd-keyfile', default: '', help: 'Client key for etcd.', section: 'Etcd' }),
  dataDir: flag.string({
    name: 'data-dir',
    default: '',
    help: 'Directory of the embedded store; empty keeps everything in memory.',
    section: 'Etcd',
  }),
  quotaBytes: flag.int({
    name: 'quota-backend-bytes',
    default: 0,
    help: 'Size that the data of the embedded store may grow to before writes are refused; 0 means 8 GiB.',
    section: 'Etcd',
  }),
};

const serving = {
  advertiseAddress: flag.string({
    name: 'advertise-address',
    default: '',
    help: 'Address that members of the cluster reach this server at.',
    section: 'Generic',
  }),
};

const authentication = {
  clientCaFile: flag.string({
    name: 'client-ca-file',
    default: '',
    help: 'Authorities whose client certificates are accepted.',
    section: 'Authentication',
  }),
  tokenAuthFile: flag.string({
    name: 'token-auth-file',
    default: '',
    help: 'CSV file of static bearer tokens.',
    section: 'Authentication',
  }),
  anonymousAuth: flag.bool({
    name: 'anonymous-auth',
    default: true,
    help: 'Requests that nobody refuses are of system:anonymous.',
    section: 'Authentication',
  }),
  enableBootstrapTokenAuth: flag.bool({
    name: 'enable-bootstrap-token-auth',
    default: false,
    help: "Accept tokens of Secrets of type 'bootstrap.kubernetes.io/token'.",
    section: 'Authentication',
  }),
  serviceAccountIssuer: flag.strings({
    name: 'service-account-issuer',
    default: [],
    help: 'Issuer of service account tokens; the first signs.',
    section: 'Authentication',
  }),
  serviceAccountKeyFile: flag.strings({
    name: 'service-account-key-file',
    default: [],
    help: 'Keys that service account tokens are verified with.',
    section: 'Authentication',
  }),
  serviceAccountSigningKeyFile: flag.string({
    name: 'service-account-signing-key-file',
    default: '',
    help: 'Key that service account tokens are signed with.',
    section: 'Authentication',
  }),
  apiAudiences: flag.strings({
    name: 'api-audiences',
    default: [],
    help: 'Audiences of this API; default: the first issuer.',
    section: 'Authentication',
  }),
  requestHeaderClientCaFile: flag.string({
    name: 'requestheader-client-ca-file',
    default: '',
    help: 'Authorities of front proxies.',
    section: 'Authentication',
  }),
  requestHeaderAllowedNames: flag.strings({
    name: 'requestheader-allowed-names',
    default: [],
    help: 'Common names of front proxies; none: any.',
    section: 'Authentication',
  }),
  requestHeaderUsernameHeaders: flag.strings({
    name: 'requestheader-username-headers',
    default: [],
    help: 'Headers that name the user.',
    section: 'Authentication',
  }),
  requestHeaderUidHeaders: flag.strings({
    name: 'requestheader-uid-headers',
    default: [],
    help: "Headers that give the user's uid.",
    section: 'Authentication',
  }),
  requestHeaderGroupHeaders: flag.strings({
    name: 'requestheader-group-headers',
    default: [],
    help: 'Headers that name groups.',
    section: 'Authentication',
  }),
  requestHeaderExtraHeadersPrefix: flag.strings({
    name: 'requestheader-extra-headers-prefix',
    default: [],
    help: 'Prefixes of headers with extra information.',
    section: 'Authentication',
  }),
};

const authorization = {
  authorizationMode: flag.strings({
    name: 'authorization-mode',
    default: [],
    help: 'Authorizers in order: AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook. Default: AlwaysAllow.',
    section: 'Authorization',
  }),
  enableAdmissionPlugins: flag.strings({
    name: 'enable-admission-plugins',
    default: [],
    help: 'Admission plugins to run besides the default ones.',
    section: 'Admission',
  }),
  disableAdmissionPlugins: flag.strings({
    name: 'disable-admission-plugins',
    default: [],
    help: 'Default admission plugins not to run.',
    section: 'Admission',
  }),
  admissionControlConfigFile: flag.string({
    name: 'admission-control-config-file',
    default: '',
    help: 'File with the configuration of admission plugins.',
    section: 'Admission',
  }),
  defaultNotReadyTolerationSeconds: flag.int({
    name: 'default-not-ready-toleration-seconds',
    default: 300,
    help: 'Toleration of notReady:NoExecute that pods get.',
    section: 'Misc',
  }),
  defaultUnreachableTolerationSeconds: flag.int({
    name: 'default-unreachable-toleration-seconds',
    default: 300,
    help: 'Toleration of unreachable:NoExecute that pods get.',
    section: 'Misc',
  }),
};

const aggregation = {
  proxyClientCertFile: flag.string({
    name: 'proxy-client-cert-file',
    default: '',
    help: 'Client certificate that proves the identity of this server to other API servers and webhooks it calls.',
    section: 'API aggregation',
  }),
  proxyClientKeyFile: flag.string({
    name: 'proxy-client-key-file',
    default: '',
    help: 'Key of --proxy-client-cert-file.',
    section: 'API aggregation',
  }),
  enableAggregatorRouting: flag.bool({
    name: 'enable-aggregator-routing',
    default: false,
    help: 'Send requests to the endpoints of Services rather than to their cluster IP.',
    section: 'API aggregation',
  }),
};

const network = {
  serviceClusterIpRange: flag.string({
    name: 'service-cluster-ip-range',
    default: '10.0.0.0/24',
    help: 'CIDR of Service addresses, or two of different families.',
    section: 'Misc',
  }),
  serviceNodePortRange: flag.string({
    name: 'service-node-port-range',
    default: '30000-32767',
    help: 'Ports of NodePort Services.',
    section: 'Misc',
  }),
  kubeletClientCertificate: flag.string({
    name: 'kubelet-client-certificate',
    default: '',
    help: 'Client certificate for kubelets.',
    section: 'Misc',
  }),
  kubeletClientKey: flag.string({ name: 'kubelet-client-key', default: '', help: 'Client key for kubelets.', section: 'Misc' }),
  kubeletCertificateAuthority: flag.string({
    name: 'kubelet-certificate-authority',
    default: '',
    help: 'Authority of kubelet serving certificates.',
    section: 'Misc',
  }),
  kubeletPreferredAddressTypes: flag.strings({
    name: 'kubelet-preferred-address-types',
    default: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
    help: 'Node addresses to try, in order.',
    section: 'Misc',
  }),
  endpointReconcilerType: flag.choice(['lease', 'none'] as const, {
    name: 'endpoint-reconciler-type',
    default: 'lease',
    help: "How this server's address gets into the endpoints of Service kubernetes.",
    section: 'Misc',
  }),
};

/** The flag table; `parseFlags` of #component-base reads command lines with it. */
export const kubeApiServerFlags = () => ({
  ...etcd,
  ...settingsFlags,
  ...storageFlags,
  ...secureServingFlags({ port: 6443 }),
  ...serving,
  ...servingFlags,
  ...authentication,
  ...tokenFlags,
  ...identityFlags,
  ...authorization,
  ...aggregation,
  ...network,
  ...auditFlags,
  ...ownFlags,
  ...loggingFlags(),
  ...fixedFeatureGateFlags(),
  ...versionFlags(),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
});

export type KubeApiServerFlags = ReturnType<typeof kubeApiServerFlags>;
