// What a component serves with, from its flags: certificates are read, made in memory, or made once and kept in `--cert-dir`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atomicWrite, ensureDir } from '#host';
import { createCertificateAuthority, issueCertificate, parseCertificates } from '#pki';
import type { Clock } from '#utils';
import type { ServerTls, ServingCertificate } from '#wire';
import type { DelegatedAuthOptions } from './delegated-auth.ts';
import type { DelegatedAuthFlags, NamedCertificateFiles, SecureServingFlags } from './flags.ts';
import { portMax } from './limits.ts';
import { minTlsVersion, opensslCiphers, opensslCurves } from './tls-names.ts';

/** How a server speaks TLS, apart from its certificate. */
export type TlsSettings = Omit<ServerTls, 'cert' | 'key'>;

export interface SecureServingOptions {
  listen: { host: string; port: number; reusePort?: boolean };
  tls: ServerTls;
  /** 0: the server's default. */
  streamsMax?: number;
}

const read = (path: string): string => readFileSync(path, 'utf8');

/** A certificate that nobody else signed, for `localhost` and the component's name. */
export function selfSignedCertificate(component: string, clock: Clock): ServingCertificate {
  const ca = createCertificateAuthority({ commonName: `${component}-ca`, clock });
  const pair = issueCertificate({
    ca,
    commonName: component,
    dnsNames: ['localhost', component],
    ips: ['127.0.0.1'],
    usages: ['digital signature', 'key encipherment', 'server auth'],
    clock,
  });
  return { cert: `${pair.cert}${ca.cert}`, key: pair.key };
}

async function certificateOf(flags: SecureServingFlags, component: string, clock: Clock): Promise<ServingCertificate> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = flags;
  if (tlsCertFile !== '' || tlsPrivateKeyFile !== '') {
    if (tlsCertFile === '' || tlsPrivateKeyFile === '')
      throw new Error('--tls-cert-file and --tls-private-key-file must be specified together');
    return { cert: read(tlsCertFile), key: read(tlsPrivateKeyFile) };
  }
  const make = (): ServingCertificate => selfSignedCertificate(component, clock);
  return certDir === '' ? make() : keptCertificate(certDir, component, make);
}

/** The certificate `<name>.crt` of a directory; where there is none, one is made and written there. */
export async function keptCertificate<T extends ServingCertificate>(
  certDir: string,
  name: string,
  make: () => T,
): Promise<ServingCertificate> {
  const [certFile, keyFile] = [join(certDir, `${name}.crt`), join(certDir, `${name}.key`)];
  if (existsSync(certFile) && existsSync(keyFile)) return { cert: read(certFile), key: read(keyFile) };
  const made = make();
  await ensureDir(certDir, 0o755);
  await atomicWrite(keyFile, made.key.toString(), { mode: 0o600 });
  await atomicWrite(certFile, made.cert.toString());
  return made;
}

const matches = (pattern: string, name: string): boolean =>
  pattern === name || (pattern.startsWith('*.') && name.slice(name.indexOf('.')) === pattern.slice(1));

function sniOf(files: readonly NamedCertificateFiles[]): ServerTls['sni'] {
  if (files.length === 0) return undefined;
  const chosen = files.map(({ certFile, keyFile, names }) => {
    const cert = read(certFile);
    const [leaf] = parseCertificates(cert);
    const own = [leaf?.subject.commonName ?? '', ...(leaf?.dnsNames ?? [])].filter((name) => name !== '');
    return { certificate: { cert, key: read(keyFile) }, names: names.length > 0 ? names : own };
  });
  return (serverName) => {
    const name = serverName.toLowerCase();
    // An exact name wins over a pattern, whatever their order.
    const found =
      chosen.find(({ names }) => names.includes(name)) ?? chosen.find(({ names }) => names.some((one) => matches(one, name)));
    return found?.certificate;
  };
}

type TlsFlags = Pick<
  SecureServingFlags,
  'tlsCipherSuites' | 'tlsCurvePreferences' | 'tlsMinVersion' | 'tlsSniCertKey' | 'disableHttp2Serving'
>;

/** Versions, ciphers, curves and certificates for names. Throws an Error for values and files that cannot be used. */
export function tlsSettings(flags: TlsFlags): TlsSettings {
  const ciphers = opensslCiphers(flags.tlsCipherSuites);
  const curves = opensslCurves(flags.tlsCurvePreferences);
  const minVersion = minTlsVersion(flags.tlsMinVersion);
  const sni = sniOf(flags.tlsSniCertKey);
  return {
    minVersion,
    ...(ciphers !== undefined && { ciphers }),
    ...(curves !== undefined && { curves }),
    ...(sni && { sni }),
    ...(flags.disableHttp2Serving && { http2: false }),
  };
}

/**
 * How a component serves, by its flags; undefined for `--secure-port=0`. Rejects with an Error, with upstream's text where it has one, for
 * values and files that cannot be used. A certificate made for `--cert-dir` is written there under the component's name.
 */
export async function secureServingOptions(
  flags: SecureServingFlags,
  component: string,
  clock: Clock,
): Promise<SecureServingOptions | undefined> {
  const { securePort: port } = flags;
  if (port < 0 || port > portMax)
    throw new Error(`--secure-port ${port} must be between 0 and 65535, inclusive. 0 for turning off secure port`);
  const settings = tlsSettings({ ...flags, tlsSniCertKey: port === 0 ? [] : flags.tlsSniCertKey });
  if (port === 0) return undefined;
  return {
    listen: { host: flags.bindAddress, port, ...(flags.permitPortSharing && { reusePort: true }) },
    tls: { ...(await certificateOf(flags, component, clock)), ...settings },
    ...(flags.http2MaxStreamsPerConnection > 0 && { streamsMax: flags.http2MaxStreamsPerConnection }),
  };
}

/** Throws an Error for files that cannot be read. */
export function delegatedAuthOptions(flags: DelegatedAuthFlags): DelegatedAuthOptions {
  const proxyCa = flags.requestHeaderClientCaFile === '' ? undefined : read(flags.requestHeaderClientCaFile);
  return {
    ...(flags.clientCaFile !== '' && { clientCa: read(flags.clientCaFile) }),
    ...(proxyCa !== undefined && {
      requestHeader: {
        ca: proxyCa,
        allowedNames: flags.requestHeaderAllowedNames,
        usernameHeaders: flags.requestHeaderUsernameHeaders,
        uidHeaders: flags.requestHeaderUidHeaders,
        groupHeaders: flags.requestHeaderGroupHeaders,
        extraHeaderPrefixes: flags.requestHeaderExtraHeadersPrefix,
      },
    }),
    lookup: flags.authenticationSkipLookup ? 'skip' : flags.authenticationTolerateLookupFailure ? 'tolerant' : 'strict',
    tokenTtlMs: flags.authenticationTokenWebhookCacheTtlMs,
    allowedTtlMs: flags.authorizationWebhookCacheAuthorizedTtlMs,
    deniedTtlMs: flags.authorizationWebhookCacheUnauthorizedTtlMs,
    alwaysAllowPaths: flags.authorizationAlwaysAllowPaths,
  };
}
