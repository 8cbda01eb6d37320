// What a kube-apiserver is made from, with files already read: the command line and an embedding program both end here.
import { readAdmissionConfiguration } from '../admission/index.ts';
import { readText } from '../platform/files.ts';
import { defaultsOf, type FlagValues } from '#component-base';
import { type TlsSettings, tlsSettings } from '#component-base/serving';
import type { EncryptionOptions } from '../encryption/index.ts';
import { type AuditOptions, auditOptionsOf } from '../audit/index.ts';
import { parseCertificates } from '#pki';
import type { FilterOptions } from './filters.ts';
import { type KubeApiServerFlags, kubeApiServerFlags } from './flags.ts';
import { type ServerSettings, settingsOf } from '../settings.ts';
import { type AccessOptions, accessOptions, type IdentityOptions, identityOptions } from './identity-flags.ts';
import { checkJwksUri } from './openid.ts';
import { type IsServed, servedVersions } from './runtime-config.ts';

/** A certificate with its key, PEM. */
export interface CertificatePair {
  cert: string;
  key: string;
}

export interface RequestHeaderTrust {
  ca: string;
  allowedNames: readonly string[];
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraHeaderPrefixes: readonly string[];
}

export interface StoreLocation {
  /** URLs of a real etcd. When the list is empty, the embedded store is used. */
  etcdServers: readonly string[];
  etcdTls?: { ca?: string; cert?: string; key?: string };
  /** The folder of the embedded store; '' keeps everything in memory. */
  dataDir: string;
  /** The embedded store must exist already; a missing one is damage. */
  mustExist?: boolean;
  /** The size that the embedded store may reach; 0 or absent: its default. */
  quotaBytes?: number;
}

export interface KubeApiServerOptions extends ServerSettings {
  store: StoreLocation;
  /** `--encryption-provider-config`; absent: objects are stored as they are. */
  encryption?: EncryptionOptions;
  bindAddress: string;
  /** 0: any free one. */
  securePort: number;
  /** '' : the address of this machine's default interface, or the bind address where it is one. */
  advertiseAddress: string;
  /** Port of the Service `kubernetes`' endpoints where it differs from the one served on; 0: the same. */
  advertisePort: number;
  /** None: a self-signed one is made. */
  serving?: CertificatePair;
  /** `--cert-dir`: where that one is kept; '' or absent: in memory. */
  certDir?: string;
  /** Versions, ciphers, curves and certificates for names. */
  tls?: TlsSettings;
  /** Requests at once on one HTTP/2 connection; absent: the server's own. */
  streamsMax?: number;
  /** The files that the serving certificate is read from again when they change. */
  servingFiles?: { cert: string; key: string };
  /** `--permit-port-sharing`. */
  reusePort?: boolean;
  filters?: FilterOptions;
  /** `--external-hostname`. */
  externalHostname?: string;
  /** How long the server goes on serving, as not ready, after it was asked to end. */
  shutdownDelayMs?: number;
  /** Serves metrics.k8s.io out of what kubelets say, until an APIService with a Service takes it over. No flag of upstream's. */
  metricsApi?: boolean;
  /** Components beside it that `/debug/decisions` asks what they decided, as URLs; none or absent: there is no such path. */
  decisionsFrom?: readonly string[];
  /** `--runtime-config`; absent: every version is served. */
  isServed?: IsServed;
  /** The node port of the Service `kubernetes`; 0 or absent where it has none. */
  serviceNodePort?: number;
  /** PEM bundle. */
  clientCa?: string;
  requestHeader?: RequestHeaderTrust;
  /** What this server shows to other API servers when it hands requests on. */
  proxyClient?: CertificatePair;
  /** Services of webhooks and other API servers are reached by their endpoints rather than by cluster IP. */
  aggregatorRouting: boolean;
  /** Content of --token-auth-file. */
  tokenFile?: string;
  anonymousAuth: boolean;
  bootstrapTokens: boolean;
  serviceAccountIssuers: readonly string[];
  /** PEM of each --service-account-key-file. */
  serviceAccountKeys: readonly string[];
  /** The key in PEM; without it, tokens cannot be issued. */
  serviceAccountSigningKey?: string;
  /** `--service-account-jwks-uri`; '' or absent: this server's own. */
  jwksUri?: string;
  apiAudiences: readonly string[];
  /** Longest validity of requested tokens; 0 or absent: no limit. */
  tokenSecondsMax?: number;
  /** Absent: pods' tokens live a year. */
  extendTokens?: boolean;
  authorizationModes: readonly string[];
  /** Foreign identities: issuers of tokens, a webhook that knows tokens. */
  identity?: IdentityOptions;
  /** Authorizers beyond modes. */
  access?: AccessOptions;
  enableAdmissionPlugins: readonly string[];
  disableAdmissionPlugins: readonly string[];
  /** What admission plugins are configured with, by their names. */
  admissionConfiguration?: ReadonlyMap<string, string>;
  notReadyTolerationSeconds: number;
  unreachableTolerationSeconds: number;
  /** One or two CIDRs. */
  serviceClusterIpRange: readonly string[];
  /** Inclusive. */
  serviceNodePortRange: readonly [number, number];
  kubelet: { client?: CertificatePair; ca?: string; addressTypes: readonly string[] };
  endpointReconciler: 'lease' | 'none';
  audit: AuditOptions;
}

const optional = async (path: string): Promise<string | undefined> => (path === '' ? undefined : readText(path));

/** Authorities in a file. Rejects with upstream's text, which names it, where there are none in it. `name`: what upstream calls them. */
async function authoritiesIn(path: string, name: string): Promise<string | undefined> {
  const bundle = await optional(path);
  try {
    if (bundle !== undefined) parseCertificates(bundle);
  } catch (error) {
    const at = JSON.stringify(`${name}::${path}`);
    throw new Error(`error loading CA bundle for ${at}: ${(error as Error).message}`, { cause: error });
  }
  return bundle;
}

async function pairOf(cert: string, key: string, what: string): Promise<CertificatePair | undefined> {
  if (cert === '' && key === '') return undefined;
  if (cert === '' || key === '') throw new Error(`${what}: certificate and key must be given together`);
  return { cert: await readText(cert), key: await readText(key) };
}

/** 'lo-hi' or 'lo+size', inclusive. Throws an Error for anything else. */
export function portRange(text: string): readonly [number, number] {
  const range = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim());
  const low = Number(range?.[1]);
  const high = range?.[2] === undefined ? low : range[2] === '-' ? Number(range[3]) : low + Number(range[3]);
  if (!range || high < low || high > 65_535) throw new Error(`unable to parse port range ${JSON.stringify(text)}`);
  return [low, high];
}

type Values = FlagValues<KubeApiServerFlags>;

/** What the flags say without reading a file. */
function plainOptions(flags: Values): KubeApiServerOptions {
  return {
    ...settingsOf(flags),
    store: { etcdServers: flags.etcdServers, dataDir: flags.dataDir, quotaBytes: flags.quotaBytes },
    bindAddress: flags.bindAddress,
    securePort: flags.securePort,
    advertiseAddress: flags.advertiseAddress,
    advertisePort: 0,
    ...servingSettings(flags),
    aggregatorRouting: flags.enableAggregatorRouting,
    metricsApi: flags.metricsFromKubelets,
    decisionsFrom: flags.decisionsFrom,
    anonymousAuth: flags.anonymousAuth,
    bootstrapTokens: flags.enableBootstrapTokenAuth,
    serviceAccountIssuers: flags.serviceAccountIssuer,
    serviceAccountKeys: [],
    jwksUri: checkJwksUri(flags.serviceAccountJwksUri),
    apiAudiences: flags.apiAudiences,
    tokenSecondsMax: tokenSeconds(flags.serviceAccountMaxTokenExpirationMs),
    extendTokens: flags.serviceAccountExtendTokenExpiration,
    authorizationModes: flags.authorizationMode,
    enableAdmissionPlugins: flags.enableAdmissionPlugins,
    disableAdmissionPlugins: flags.disableAdmissionPlugins,
    notReadyTolerationSeconds: flags.defaultNotReadyTolerationSeconds,
    unreachableTolerationSeconds: flags.defaultUnreachableTolerationSeconds,
    serviceClusterIpRange: flags.serviceClusterIpRange.split(',').map((cidr) => cidr.trim()),
    serviceNodePortRange: portRange(flags.serviceNodePortRange),
    kubelet: { addressTypes: flags.kubeletPreferredAddressTypes },
    endpointReconciler: flags.endpointReconcilerType,
    audit: auditOptionsOf(flags),
  };
}

/** Reads the files the flags name. Rejects with an Error that says which could not be read. */
export async function optionsFromFlags(flags: Values, changed: ReadonlySet<string> = new Set()): Promise<KubeApiServerOptions> {
  const plain = plainOptions(flags);
  const serving = await pairOf(flags.tlsCertFile, flags.tlsPrivateKeyFile, '--tls-cert-file and --tls-private-key-file');
  const client = await pairOf(
    flags.kubeletClientCertificate,
    flags.kubeletClientKey,
    '--kubelet-client-certificate and --kubelet-client-key',
  );
  const clientCa = await authoritiesIn(flags.clientCaFile, 'client-ca-bundle');
  const kubeletCa = await optional(flags.kubeletCertificateAuthority);
  const tokenFile = await optional(flags.tokenAuthFile);
  const signingKey = await optional(flags.serviceAccountSigningKeyFile);
  const requestHeader = await requestHeaderOf(flags);
  const { admissionControlConfigFile: admissionFile } = flags;
  const proxyClient = await pairOf(
    flags.proxyClientCertFile,
    flags.proxyClientKeyFile,
    '--proxy-client-cert-file and --proxy-client-key-file',
  );
  return {
    ...plain,
    store: { ...plain.store, ...(await etcdTlsOf(flags)) },
    ...encryptionOf(flags),
    serving,
    servingFiles: serving && { cert: flags.tlsCertFile, key: flags.tlsPrivateKeyFile },
    clientCa,
    requestHeader,
    proxyClient,
    tokenFile,
    serviceAccountKeys: await Promise.all(flags.serviceAccountKeyFile.map((path) => readText(path))),
    serviceAccountSigningKey: signingKey,
    identity: await identityOptions(flags, changed),
    access: accessOptions(flags, changed),
    admissionConfiguration: admissionFile ? await readAdmissionConfiguration(admissionFile) : undefined,
    kubelet: { ...plain.kubelet, ...(client && { client }), ...(kubeletCa !== undefined && { ca: kubeletCa }) },
  };
}

/** How it serves, and what; nothing that was not asked for. */
function servingSettings(flags: Values): Partial<KubeApiServerOptions> {
  const isServed = servedVersions(flags.runtimeConfig);
  const { corsAllowedOrigins, strictTransportSecurityDirectives, http2MaxStreamsPerConnection: streamsMax } = flags;
  return {
    certDir: flags.certDir,
    tls: tlsSettings(flags),
    ...(streamsMax > 0 && { streamsMax }),
    reusePort: flags.permitPortSharing,
    filters: { corsAllowedOrigins, strictTransportSecurityDirectives },
    externalHostname: flags.externalHostname,
    shutdownDelayMs: flags.shutdownDelayMs,
    ...(isServed && { isServed }),
    serviceNodePort: flags.kubernetesServiceNodePort,
  };
}

/** Whole seconds of `--service-account-max-token-expiration`. Throws for what is out of upstream's bounds. */
function tokenSeconds(ms: number): number {
  if (ms !== 0 && (ms < 3_600_000 || ms > 2 ** 32 * 1000))
    throw new Error('the service-account-max-token-expiration must be between 1 hour and 2^32 seconds');
  return Math.floor(ms / 1000);
}

function encryptionOf(flags: Values): Partial<KubeApiServerOptions> {
  const { encryptionProviderConfig: path, encryptionProviderConfigAutomaticReload: reload } = flags;
  if (path !== '') return { encryption: { path, reload } };
  if (reload) throw new Error('--encryption-provider-config-automatic-reload must be set with --encryption-provider-config');
  return {};
}

async function etcdTlsOf(flags: Values): Promise<Pick<StoreLocation, 'etcdTls'>> {
  const ca = await optional(flags.etcdCaFile);
  const pair = await pairOf(flags.etcdCertFile, flags.etcdKeyFile, '--etcd-certfile and --etcd-keyfile');
  return ca !== undefined || pair ? { etcdTls: { ...(ca !== undefined && { ca }), ...pair } } : {};
}

/** The names that the front proxy's certificate may have, and the headers in which it passes the user. */
export const requestHeaderTrust = (flags: Values, ca: string): RequestHeaderTrust => ({
  ca,
  allowedNames: flags.requestHeaderAllowedNames,
  usernameHeaders: flags.requestHeaderUsernameHeaders,
  uidHeaders: flags.requestHeaderUidHeaders,
  groupHeaders: flags.requestHeaderGroupHeaders,
  extraHeaderPrefixes: flags.requestHeaderExtraHeadersPrefix,
});

async function requestHeaderOf(flags: Values): Promise<RequestHeaderTrust | undefined> {
  const ca = await authoritiesIn(flags.requestHeaderClientCaFile, 'request-header');
  return ca === undefined ? undefined : requestHeaderTrust(flags, ca);
}

/** For programs that embed the server: the flags' defaults, but for what a server on its own machine wants otherwise. */
export const defaultOptions = (): KubeApiServerOptions => ({
  ...plainOptions(defaultsOf(kubeApiServerFlags())),
  bindAddress: '127.0.0.1',
  securePort: 0,
  certDir: '',
  serviceAccountIssuers: ['https://kubernetes.default.svc.cluster.local'],
  authorizationModes: ['Node', 'RBAC'],
  serviceClusterIpRange: ['10.96.0.0/16'],
});
