// Flags of kube-scheduler with upstream's names and defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-scheduler/).
import { defaultLeaderElection, featureGateFlags, flag, leaderElectionFlags, loggingFlags } from '#component-base';

const misc = {
  config: flag.string({ name: 'config', default: '', help: 'Configuration file (KubeSchedulerConfiguration).', section: 'Misc' }),
  master: flag.string({
    name: 'master',
    default: '',
    help: 'Address of the apiserver; wins over the kubeconfig.',
    section: 'Misc',
  }),
  writeConfigTo: flag.string({
    name: 'write-config-to',
    default: '',
    help: 'Write the configuration with all defaults to this file and exit.',
    section: 'Misc',
  }),
};

const deprecated = {
  kubeconfig: flag.string({
    name: 'kubeconfig',
    default: '',
    help: 'File that says how to reach the apiserver.',
    section: 'Deprecated',
  }),
  kubeApiQps: flag.float({
    name: 'kube-api-qps',
    default: 50,
    help: 'Requests per second to the apiserver.',
    section: 'Deprecated',
  }),
  kubeApiBurst: flag.int({
    name: 'kube-api-burst',
    default: 100,
    help: 'Requests at once to the apiserver.',
    section: 'Deprecated',
  }),
  profiling: flag.bool({ name: 'profiling', default: true, help: 'Serve profiling at /debug/pprof/.', section: 'Deprecated' }),
};

const serving = {
  bindAddress: flag.string({
    name: 'bind-address',
    default: '0.0.0.0',
    help: 'Address to serve health and metrics on.',
    section: 'Secure serving',
  }),
  securePort: flag.int({
    name: 'secure-port',
    default: 10_259,
    help: 'Port of HTTPS; 0 serves nothing.',
    section: 'Secure serving',
  }),
  tlsCertFile: flag.string({ name: 'tls-cert-file', default: '', help: 'Serving certificate.', section: 'Secure serving' }),
  tlsPrivateKeyFile: flag.string({
    name: 'tls-private-key-file',
    default: '',
    help: 'Key of --tls-cert-file.',
    section: 'Secure serving',
  }),
  authenticationKubeconfig: flag.string({
    name: 'authentication-kubeconfig',
    default: '',
    help: 'kubeconfig with the right to create tokenreviews.',
    section: 'Authentication',
  }),
  authorizationKubeconfig: flag.string({
    name: 'authorization-kubeconfig',
    default: '',
    help: 'kubeconfig with the right to create subjectaccessreviews.',
    section: 'Authorization',
  }),
};

/** The flag table; `parseFlags` of #component-base reads command lines with it. */
export const kubeSchedulerFlags = () => ({
  ...misc,
  ...serving,
  ...deprecated,
  ...leaderElectionFlags(defaultLeaderElection('kube-scheduler')),
  ...loggingFlags(),
  ...featureGateFlags([]),
});

export type KubeSchedulerFlags = ReturnType<typeof kubeSchedulerFlags>;
