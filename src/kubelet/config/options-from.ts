// Options out of flags and a KubeletConfiguration file (kubelet.config.k8s.io/v1beta1): flags given on the command line win over the file.
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Taint } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import { parseDurationMs } from '#apimachinery/duration';
import { parseQuantity } from '#apimachinery/quantity';
import { keptCertificate, tlsSettings } from '#component-base/serving';
import { parseCertificates } from '#pki';
import { issueSelfSigned } from './self-signed.ts';
import type { KubeletServerOptions } from '../server/server.ts';
import { isSpecific, parseCloudProvider, parseNodeIPs } from '../node/node-ip.ts';
import { parseThresholds } from '../eviction/thresholds.ts';
import { sysctlRules } from '../node/sysctls.ts';
import { defaultOptions, type EvictionOptions, type KubeletOptions } from '../options.ts';
import { checkConfiguration } from './configuration.ts';
import { kubeletFlags, type KubeletFlagValues } from './flags.ts';

type Name = keyof typeof kubeletFlags;

/** The part of KubeletConfiguration that is read. */
interface KubeletConfiguration {
  kind?: string;
  apiVersion?: string;
  staticPodPath?: string;
  address?: string;
  port?: number;
  podLogsDir?: string;
  tlsCertFile?: string;
  tlsPrivateKeyFile?: string;
  authentication?: {
    x509?: { clientCAFile?: string };
    webhook?: { enabled?: boolean; cacheTTL?: string };
    anonymous?: { enabled?: boolean };
  };
  authorization?: { mode?: 'AlwaysAllow' | 'Webhook' };
  clusterDomain?: string;
  clusterDNS?: string[];
  containerRuntimeEndpoint?: string;
  cgroupRoot?: string;
  cgroupsPerQOS?: boolean;
  cgroupDriver?: 'cgroupfs' | 'systemd';
  maxPods?: number;
  resolvConf?: string;
  serializeImagePulls?: boolean;
  evictionHard?: Record<string, string>;
  evictionSoft?: Record<string, string>;
  evictionSoftGracePeriod?: Record<string, string>;
  evictionMinimumReclaim?: Record<string, string>;
  evictionMaxPodGracePeriod?: number;
  evictionPressureTransitionPeriod?: string;
  mergeDefaultEvictionSettings?: boolean;
  allowedUnsafeSysctls?: string[];
  podPidsLimit?: number;
  protectKernelDefaults?: boolean;
  systemReserved?: Record<string, string>;
  kubeReserved?: Record<string, string>;
  imageGCHighThresholdPercent?: number;
  imageGCLowThresholdPercent?: number;
  imageMinimumGCAge?: string;
  imageMaximumGCAge?: string;
  containerLogMaxSize?: string;
  containerLogMaxFiles?: number;
  nodeStatusUpdateFrequency?: string;
  nodeStatusReportFrequency?: string;
  nodeLeaseDurationSeconds?: number;
  registerNode?: boolean;
  registerWithTaints?: Taint[];
  enableServer?: boolean;
  healthzBindAddress?: string;
  healthzPort?: number;
  seccompDefault?: boolean;
  tlsCipherSuites?: string[];
  tlsMinVersion?: string;
  rotateCertificates?: boolean;
  serverTLSBootstrap?: boolean;
  logging?: { format?: 'text' | 'json'; verbosity?: number };
  providerID?: string;
}

/** Rejects with an Error when the file is not a KubeletConfiguration. */
async function readConfiguration(path: string): Promise<{ file: KubeletConfiguration; warnings: string[] }> {
  const value = parseYaml(await readFile(path, 'utf8')).value as KubeletConfiguration | undefined;
  if (value?.kind !== 'KubeletConfiguration' || value.apiVersion !== 'kubelet.config.k8s.io/v1beta1')
    throw new Error(
      `failed to load kubelet config file, path: ${path}, error: no kind "KubeletConfiguration" of kubelet.config.k8s.io/v1beta1 in it`,
    );
  const { configuration, warnings } = checkConfiguration(value);
  return { file: configuration, warnings };
}

/** `<key>[=<value>]:<effect>`. Throws an Error with upstream's text. */
function parseTaint(text: string): Taint {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (match === null) throw new Error(`invalid taint spec: ${text}`);
  return { key: match[1] ?? '', ...(match[2] && { value: match[2] }), effect: match[3] ?? '' };
}

/** Amounts kept for system and kubelet, added up. */
function reservedOf(...lists: (Record<string, string> | undefined)[]): Record<string, string> {
  const sums: Record<string, string> = {};
  for (const list of lists)
    for (const [name, text] of Object.entries(list ?? {}))
      sums[name] = parseQuantity(sums[name] ?? '0')
        .add(parseQuantity(text))
        .toString();
  return sums;
}

const systemdWarning =
  'cgroupDriver systemd has no effect: cgroups are made in the file system; a runtime that makes its own through systemd will not start containers';

export interface KubeletSettings {
  options: KubeletOptions;
  /** Absent: the kubelet serves nothing (`--enable-server=false`). */
  serving?: Omit<KubeletServerOptions, 'listen'>;
  /** Where /healthz is served without authentication; port 0 turns it off. */
  healthz: { host: string; port: number };
  /** The certificates that the kubelet requests from the cluster. */
  certificates: { dir: string; rotateClient: boolean; serving: boolean };
  /** What the file says of the log. */
  logging: { verbosity: number; loggingFormat: 'text' | 'json' };
  /** What the log says of fields of the file that have no effect. */
  warnings: readonly string[];
}

/** The values that the flags and the configuration file give. */
interface Given {
  values: KubeletFlagValues;
  changed: ReadonlySet<string>;
  file: KubeletConfiguration;
  base: KubeletOptions;
  /** The flag when given, else the file's value, else the flag's default. */
  pick<T>(name: Name, own: T, fromFile: T | undefined): T;
}

const nodeOptions = ({ values, file, base, pick }: Given) => ({
  nodeIPs: parseNodeIPs(values.nodeIp),
  registerNode: pick('registerNode', values.registerNode, file.registerNode),
  registerWithTaints: pick('registerWithTaints', values.registerWithTaints.map(parseTaint), file.registerWithTaints),
  nodeLabels: values.nodeLabels,
  cloudProvider: parseCloudProvider(values.cloudProvider),
  providerID: pick('providerId', values.providerId, file.providerID),
  port: pick('port', values.port, file.port),
  address: pick('address', values.address, file.address),
  reserved: reservedOf(
    pick('systemReserved', values.systemReserved, file.systemReserved),
    pick('kubeReserved', values.kubeReserved, file.kubeReserved),
  ),
  nodeStatusUpdateMs: pick(
    'nodeStatusUpdateFrequencyMs',
    values.nodeStatusUpdateFrequencyMs,
    durationOf(file.nodeStatusUpdateFrequency),
  ),
  nodeStatusReportMs: durationOf(file.nodeStatusReportFrequency) ?? base.nodeStatusReportMs,
  leaseSeconds: file.nodeLeaseDurationSeconds ?? base.leaseSeconds,
  protectKernelDefaults: pick('protectKernelDefaults', values.protectKernelDefaults, file.protectKernelDefaults),
});

const podOptions = ({ values, file, base, pick }: Given) => ({
  podsMax: pick('maxPods', values.maxPods, file.maxPods),
  clusterDNS: pick('clusterDns', values.clusterDns, file.clusterDNS),
  clusterDomain: pick('clusterDomain', values.clusterDomain, file.clusterDomain),
  rootDir: values.rootDir,
  podLogsDir: pick('podLogsDir', values.podLogsDir, file.podLogsDir) || base.podLogsDir,
  podManifestPath: pick('podManifestPath', values.podManifestPath, file.staticPodPath),
  resolvConf: pick('resolvConf', values.resolvConf, file.resolvConf),
  seccompDefault: pick('seccompDefault', values.seccompDefault, file.seccompDefault),
  allowedUnsafeSysctls: pick('allowedUnsafeSysctls', values.allowedUnsafeSysctls, file.allowedUnsafeSysctls),
  podPidsMax: pick('podMaxPids', values.podMaxPids, file.podPidsLimit),
});

const runtimeOptions = ({ values, file, base, pick }: Given) => ({
  containerRuntimeEndpoint:
    pick('containerRuntimeEndpoint', values.containerRuntimeEndpoint, file.containerRuntimeEndpoint) ||
    base.containerRuntimeEndpoint,
  cgroupRoot: pick('cgroupRoot', values.cgroupRoot, file.cgroupRoot),
  cgroupsPerQOS: pick('cgroupsPerQos', values.cgroupsPerQos, file.cgroupsPerQOS),
  cgroupDriver: pick('cgroupDriver', values.cgroupDriver, file.cgroupDriver),
  serializeImagePulls: pick('serializeImagePulls', values.serializeImagePulls, file.serializeImagePulls),
  imageGcHighPercent: pick('imageGcHighThreshold', values.imageGcHighThreshold, file.imageGCHighThresholdPercent),
  imageGcLowPercent: pick('imageGcLowThreshold', values.imageGcLowThreshold, file.imageGCLowThresholdPercent),
  imageAgeMsMin: pick('minimumImageTtlMs', values.minimumImageTtlMs, durationOf(file.imageMinimumGCAge)),
  imageAgeMsMax: durationOf(file.imageMaximumGCAge) ?? base.imageAgeMsMax,
  containerLogMaxBytes: parseQuantity(pick('containerLogMaxSize', values.containerLogMaxSize, file.containerLogMaxSize)).value(),
  containerLogMaxFiles: pick('containerLogMaxFiles', values.containerLogMaxFiles, file.containerLogMaxFiles),
  podInfraImage: values.podInfraContainerImage || base.podInfraImage,
});

/** An empty list of hard thresholds stands for the default ones. */
function hardThresholds({ values, changed, file, base }: Given): EvictionOptions['hard'] {
  const given = changed.has('evictionHard') ? values.evictionHard : file.evictionHard;
  if (given === undefined || Object.keys(given).length === 0) return base.eviction.hard;
  return file.mergeDefaultEvictionSettings ? { ...base.eviction.hard, ...given } : given;
}

/** Throws for thresholds that are not well-formed. */
function evictionOptions(given: Given): EvictionOptions {
  const { values, file, base, pick } = given;
  const eviction: EvictionOptions = {
    hard: hardThresholds(given),
    soft: pick('evictionSoft', values.evictionSoft, file.evictionSoft),
    softGracePeriod: pick('evictionSoftGracePeriod', values.evictionSoftGracePeriod, file.evictionSoftGracePeriod),
    minimumReclaim: pick('evictionMinimumReclaim', values.evictionMinimumReclaim, file.evictionMinimumReclaim),
    maxPodGraceSeconds: pick('evictionMaxPodGracePeriod', values.evictionMaxPodGracePeriod, file.evictionMaxPodGracePeriod),
    pressureTransitionMs:
      pick(
        'evictionPressureTransitionMs',
        values.evictionPressureTransitionMs,
        durationOf(file.evictionPressureTransitionPeriod),
      ) || base.eviction.pressureTransitionMs,
  };
  parseThresholds(eviction);
  return eviction;
}

/** `changed`: flags given on the command line. Rejects with an Error for unreadable files and values. */
export async function kubeletSettings(values: KubeletFlagValues, changed: ReadonlySet<string>): Promise<KubeletSettings> {
  const { file, warnings } =
    values.config === '' ? { file: {} as KubeletConfiguration, warnings: [] } : await readConfiguration(values.config);
  const pick = <T>(name: Name, own: T, fromFile: T | undefined): T => (changed.has(name) ? own : (fromFile ?? own));
  const base = defaultOptions((values.hostnameOverride || hostname()).trim().toLowerCase());
  const given: Given = { values, changed, file, base, pick };
  const options: KubeletOptions = {
    ...base,
    ...nodeOptions(given),
    ...podOptions(given),
    ...runtimeOptions(given),
    eviction: evictionOptions(given),
  };
  sysctlRules(options.allowedUnsafeSysctls, '');
  const serving =
    pick('enableServer', values.enableServer, file.enableServer) && (await servingOf(values, changed, file, options));
  return {
    options,
    ...(serving && { serving }),
    healthz: {
      host: pick('healthzBindAddress', values.healthzBindAddress, file.healthzBindAddress),
      port: pick('healthzPort', values.healthzPort, file.healthzPort),
    },
    certificates: {
      dir: values.certDir,
      rotateClient: pick('rotateCertificates', values.rotateCertificates, file.rotateCertificates),
      serving:
        !(values.tlsCertFile || file.tlsCertFile) &&
        pick('rotateServerCertificates', values.rotateServerCertificates, file.serverTLSBootstrap),
    },
    logging: {
      verbosity: pick('verbosity', values.verbosity, file.logging?.verbosity),
      loggingFormat: pick('loggingFormat', values.loggingFormat, file.logging?.format),
    },
    warnings: options.cgroupDriver === 'systemd' ? [...warnings, systemdWarning] : warnings,
  };
}

const durationOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseDurationMs(text));

/** Kept in `--cert-dir`, when that is given; otherwise made anew at each start. */
async function selfSigned(
  { certDir }: KubeletFlagValues,
  changed: ReadonlySet<string>,
  { nodeName, nodeIPs }: KubeletOptions,
): Promise<{ cert: string; key: string }> {
  const make = (): { cert: string; key: string } => issueSelfSigned(nodeName, nodeIPs.filter(isSpecific));
  if (!changed.has('certDir') || certDir === '') return make();
  const { cert, key } = await keptCertificate(certDir, 'kubelet', make);
  return { cert: cert.toString(), key: key.toString() };
}

/** Whose certificates the server believes. Rejects with upstream's text: with something else it would believe nobody, and not say so. */
async function clientCaIn(path: string): Promise<string> {
  const refused = (why: string, cause: unknown): Error => new Error(`unable to load client CA file ${path}: ${why}`, { cause });
  const bundle = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refused(error.code === 'ENOENT' ? `open ${path}: no such file or directory` : error.message, error);
  });
  try {
    parseCertificates(bundle);
  } catch (error) {
    throw refused(`error reading ${path}: ${(error as Error).message}`, error);
  }
  return bundle;
}

/**
 * How the server authenticates. With a configuration file, anonymous requests are refused and webhooks are used unless the file says otherwise;
 * these are the defaults of v1beta1.
 */
async function servingOf(
  values: KubeletFlagValues,
  changed: ReadonlySet<string>,
  file: KubeletConfiguration,
  options: KubeletOptions,
) {
  const { authentication, authorization } = file;
  const hasFile = values.config !== '';
  const certFile = values.tlsCertFile || file.tlsCertFile || '';
  const keyFile = values.tlsPrivateKeyFile || file.tlsPrivateKeyFile || '';
  const caFile = values.clientCaFile || authentication?.x509?.clientCAFile || '';
  const pair =
    certFile !== '' && keyFile !== ''
      ? { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
      : await selfSigned(values, changed, options);
  const tls = tlsSettings({
    tlsCipherSuites: changed.has('tlsCipherSuites') ? values.tlsCipherSuites : (file.tlsCipherSuites ?? []),
    tlsMinVersion: changed.has('tlsMinVersion') ? values.tlsMinVersion : (file.tlsMinVersion ?? ''),
    tlsCurvePreferences: [],
    tlsSniCertKey: [],
    disableHttp2Serving: false,
  });
  return {
    tls: { ...tls, ...pair, ...(caFile !== '' && { ca: await clientCaIn(caFile) }) },
    anonymous: changed.has('anonymousAuth')
      ? values.anonymousAuth
      : hasFile
        ? authentication?.anonymous?.enabled === true
        : values.anonymousAuth,
    tokenReview: changed.has('authenticationTokenWebhook')
      ? values.authenticationTokenWebhook
      : hasFile
        ? authentication?.webhook?.enabled !== false
        : values.authenticationTokenWebhook,
    authorization: changed.has('authorizationMode')
      ? values.authorizationMode
      : hasFile
        ? (authorization?.mode ?? ('Webhook' as const))
        : values.authorizationMode,
  };
}
