// Flags of kube-apiserver about how it serves, starts and ends, and which versions it serves (k8s.io/apiserver/pkg/server/options,
// k8s.io/kubernetes pkg/kubeapiserver/options).
import { flag } from '#component-base';
import { positive } from '../settings.ts';

const generic = 'Generic';

export const servingFlags = {
  corsAllowedOrigins: flag.strings({
    name: 'cors-allowed-origins',
    default: [],
    help: 'Origins whose pages may read answers, as regular expressions; they should begin with ^ and end with $.',
    section: generic,
  }),
  strictTransportSecurityDirectives: flag.strings({
    name: 'strict-transport-security-directives',
    default: [],
    help: 'Directives of the Strict-Transport-Security header: max-age=seconds, includeSubDomains, preload.',
    section: generic,
  }),
  externalHostname: flag.string({
    name: 'external-hostname',
    default: '',
    help: 'Name of this server in what it says of itself; default: the advertised address.',
    section: generic,
  }),
  shutdownDelayMs: positive(
    flag.duration({
      name: 'shutdown-delay-duration',
      default: 0,
      help: 'How long the server goes on serving, not ready, after it was told to end.',
      section: generic,
    }),
  ),
  profiling: flag.bool({
    name: 'profiling',
    default: true,
    help: 'Let the verbosity of the log be changed by PUT /debug/flags/v; there is no /debug/pprof.',
    section: 'Features',
    noEffect: 'there is neither /debug/pprof nor /debug/flags/v',
  }),
  runtimeConfig: flag.configurationMap({
    name: 'runtime-config',
    default: {},
    help: 'API versions to serve or not: <group>/<version>=true|false, v1 for the core, api/all, api/ga, api/beta, api/alpha.',
    section: 'API enablement',
  }),
  kubernetesServiceNodePort: flag.int({
    name: 'kubernetes-service-node-port',
    default: 0,
    help: 'Node port of the Service kubernetes; 0: it has a cluster IP only.',
    section: 'Misc',
  }),
};

export const tokenFlags = {
  serviceAccountJwksUri: flag.string({
    name: 'service-account-jwks-uri',
    default: '',
    help: 'Where the discovery document says the keys of service account tokens are; default: /openid/v1/jwks of this server.',
    section: 'Authentication',
  }),
  serviceAccountMaxTokenExpirationMs: flag.duration({
    name: 'service-account-max-token-expiration',
    default: 0,
    help: 'Longest validity of requested tokens, one hour to 2^32 seconds; 0: no limit of its own.',
    section: 'Authentication',
  }),
  serviceAccountExtendTokenExpiration: flag.bool({
    name: 'service-account-extend-token-expiration',
    default: true,
    help: 'Tokens that pods get by default live a year, and warn after an hour.',
    section: 'Authentication',
  }),
  serviceAccountLookup: flag.bool({
    name: 'service-account-lookup',
    default: true,
    help: 'Tokens are good only while what they are bound to exists.',
    section: 'Authentication',
    refused: 'tokens are always looked up',
  }),
};

export const storageFlags = {
  encryptionProviderConfig: flag.string({
    name: 'encryption-provider-config',
    default: '',
    help: 'File that says which resources are encrypted in the store, and with what (EncryptionConfiguration).',
    section: 'Etcd',
  }),
  encryptionProviderConfigAutomaticReload: flag.bool({
    name: 'encryption-provider-config-automatic-reload',
    default: false,
    help: 'Follow changes of --encryption-provider-config.',
    section: 'Etcd',
  }),
  storageBackend: flag.choice(['', 'etcd3'] as const, {
    name: 'storage-backend',
    default: '',
    help: "Kind of storage: 'etcd3'.",
    section: 'Etcd',
  }),
  storageMediaType: flag.string({
    name: 'storage-media-type',
    default: 'application/vnd.kubernetes.protobuf',
    help: 'Encoding of objects in storage.',
    section: 'Etcd',
    noEffect: 'objects are stored as JSON',
  }),
};
