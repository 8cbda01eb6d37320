// Flags of a component's own HTTPS endpoints, with upstream's names and defaults (k8s.io/apiserver/pkg/server/options: SecureServingOptions,
// DelegatingAuthenticationOptions, DelegatingAuthorizationOptions).
import { type Flag, flag, type FlagOptions, type FlagValues } from '../flags/index.ts';

/** `--tls-sni-cert-key`: a certificate for server names; without names those in the certificate. */
export interface NamedCertificateFiles {
  certFile: string;
  keyFile: string;
  names: string[];
}

function parseNamedCertificate(text: string): NamedCertificateFiles[] {
  const colon = text.indexOf(':');
  const names = colon < 0 ? undefined : text.slice(colon + 1).trim();
  if (names === '') throw new Error('empty names list is not allowed');
  const files = (colon < 0 ? text : text.slice(0, colon)).split(',').map((word) => word.trim());
  const [certFile, keyFile] = files;
  if (files.length !== 2 || !certFile || !keyFile) throw new Error('expected comma separated certificate and key file paths');
  return [{ certFile, keyFile, names: names?.split(',').map((name) => name.trim()) ?? [] }];
}

const namedCertificates = (options: FlagOptions<NamedCertificateFiles[]>): Flag<NamedCertificateFiles[]> => ({
  ...options,
  type: {
    name: 'namedCertKey',
    parse: parseNamedCertificate,
    format: (list) =>
      `[${list.map(({ certFile, keyFile, names }) => [`${certFile},${keyFile}`, names.join(',')].filter(Boolean).join(':')).join(';')}]`,
    join: (first, next) => [...first, ...next],
  },
});

const section = 'Secure serving';

/** Makes the flags `--bind-address`, `--secure-port`, `--tls-*` and their like. */
export const secureServingFlags = ({ port }: { port: number }) => ({
  bindAddress: flag.string({ name: 'bind-address', default: '0.0.0.0', help: 'Address of the own endpoints.', section }),
  securePort: flag.int({ name: 'secure-port', default: port, help: 'Port of the own endpoints, HTTPS; 0 serves none.', section }),
  certDir: flag.string({
    name: 'cert-dir',
    default: '',
    help: 'Directory of the certificate, where one is made when there is none. Without it one is made in memory. Not looked at with --tls-cert-file and --tls-private-key-file.',
    section,
  }),
  tlsCertFile: flag.string({
    name: 'tls-cert-file',
    default: '',
    help: 'Certificate of the own endpoints, with its chain.',
    section,
  }),
  tlsPrivateKeyFile: flag.string({ name: 'tls-private-key-file', default: '', help: 'Key of --tls-cert-file.', section }),
  tlsCipherSuites: flag.strings({
    name: 'tls-cipher-suites',
    default: [],
    help: 'Cipher suites for TLS 1.2 by their IANA names. Default: those of Node.',
    section,
  }),
  tlsCurvePreferences: flag.strings({
    name: 'tls-curve-preferences',
    default: [],
    help: 'Key exchange mechanisms by their IANA numbers, e.g. 29 for X25519. Default: those of Node.',
    section,
  }),
  tlsMinVersion: flag.string({
    name: 'tls-min-version',
    default: '',
    help: 'Lowest TLS version: VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13. TLS 1.2 is spoken at the least.',
    section,
  }),
  tlsSniCertKey: namedCertificates({
    name: 'tls-sni-cert-key',
    default: [],
    help: "Certificate and key file, and the names they are for: 'a.crt,a.key:*.foo.com,foo.com'. Repeatable.",
    section,
  }),
  disableHttp2Serving: flag.bool({ name: 'disable-http2-serving', default: false, help: 'Serve HTTP/1.1 only.', section }),
  http2MaxStreamsPerConnection: flag.int({
    name: 'http2-max-streams-per-connection',
    default: 0,
    help: 'Requests at once on one HTTP/2 connection; 0: the default.',
    section,
  }),
  permitPortSharing: flag.bool({
    name: 'permit-port-sharing',
    default: false,
    help: 'Bind the port with SO_REUSEPORT, so that several processes may.',
    section,
  }),
  permitAddressSharing: flag.bool({
    name: 'permit-address-sharing',
    default: false,
    help: 'Bind with SO_REUSEADDR.',
    section,
    noEffect: 'addresses are always bound with SO_REUSEADDR',
  }),
});

const authentication = 'Authentication';
const requestHeaderFlags = () => ({
  requestHeaderUsernameHeaders: flag.strings({
    name: 'requestheader-username-headers',
    default: ['x-remote-user'],
    help: 'Headers in which a front proxy names the user.',
    section: authentication,
  }),
  requestHeaderUidHeaders: flag.strings({
    name: 'requestheader-uid-headers',
    default: [],
    help: 'Headers in which a front proxy gives the user’s uid, e.g. X-Remote-Uid.',
    section: authentication,
  }),
  requestHeaderGroupHeaders: flag.strings({
    name: 'requestheader-group-headers',
    default: ['x-remote-group'],
    help: 'Headers in which a front proxy names groups.',
    section: authentication,
  }),
  requestHeaderExtraHeadersPrefix: flag.strings({
    name: 'requestheader-extra-headers-prefix',
    default: ['x-remote-extra-'],
    help: 'Prefixes of a front proxy’s headers about more.',
    section: authentication,
  }),
  requestHeaderClientCaFile: flag.string({
    name: 'requestheader-client-ca-file',
    default: '',
    help: 'Authorities of front proxies. Nothing else makes their headers believed.',
    section: authentication,
  }),
  requestHeaderAllowedNames: flag.strings({
    name: 'requestheader-allowed-names',
    default: [],
    help: 'Common names of front proxies; none: any that the authorities signed.',
    section: authentication,
  }),
});

/** Makes the flags `--authentication-*`, `--authorization-*`, `--requestheader-*` and `--client-ca-file`. */
export const delegatedAuthFlags = ({ tolerateLookupFailure }: { tolerateLookupFailure: boolean }) => ({
  ...requestHeaderFlags(),
  clientCaFile: flag.string({
    name: 'client-ca-file',
    default: '',
    help: 'Authorities of client certificates, which are identified by their common name.',
    section: authentication,
  }),
  authenticationKubeconfig: flag.string({
    name: 'authentication-kubeconfig',
    default: '',
    help: 'kubeconfig of an identity that may create tokenreviews. Default: the component’s own.',
    section: authentication,
  }),
  authenticationTokenWebhookCacheTtlMs: flag.duration({
    name: 'authentication-token-webhook-cache-ttl',
    default: 10_000,
    help: 'How long an answer about a token is kept.',
    section: authentication,
  }),
  authenticationSkipLookup: flag.bool({
    name: 'authentication-skip-lookup',
    default: false,
    help: 'Do not look for authorities in the cluster, with --authentication-kubeconfig.',
    section: authentication,
  }),
  authenticationTolerateLookupFailure: flag.bool({
    name: 'authentication-tolerate-lookup-failure',
    default: tolerateLookupFailure,
    help: 'Serve although the authorities could not be looked up in the cluster; callers with certificates are then anonymous.',
    section: authentication,
  }),
  authorizationKubeconfig: flag.string({
    name: 'authorization-kubeconfig',
    default: '',
    help: 'kubeconfig of an identity that may create subjectaccessreviews. Default: the component’s own.',
    section: 'Authorization',
  }),
  authorizationWebhookCacheAuthorizedTtlMs: flag.duration({
    name: 'authorization-webhook-cache-authorized-ttl',
    default: 10_000,
    help: 'How long an answer that allows is kept.',
    section: 'Authorization',
  }),
  authorizationWebhookCacheUnauthorizedTtlMs: flag.duration({
    name: 'authorization-webhook-cache-unauthorized-ttl',
    default: 10_000,
    help: 'How long an answer that refuses is kept.',
    section: 'Authorization',
  }),
  authorizationAlwaysAllowPaths: flag.strings({
    name: 'authorization-always-allow-paths',
    default: ['/healthz', '/readyz', '/livez'],
    help: 'Paths that everybody may read without being asked who they are. A trailing * stands for the rest.',
    section: 'Authorization',
  }),
});

export type SecureServingFlags = FlagValues<ReturnType<typeof secureServingFlags>>;
export type DelegatedAuthFlags = FlagValues<ReturnType<typeof delegatedAuthFlags>>;
