// Options out of flags and a KubeletConfiguration file (kubelet.config.k8s.io/v1beta1): flags given on the command line win over the file.
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Taint } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import { parseDurationMs } from '#apimachinery/duration';
import { parseQuantity } from '#apimachinery/quantity';
import { issueSelfSigned } from './self-signed.ts';
import type { KubeletServerOptions } from '../server/server.ts';
import { isSpecific, parseCloudProvider, parseNodeIPs } from '../node/node-ip.ts';
import { defaultOptions, type KubeletOptions } from '../options.ts';
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
  authentication?: { x509?: { clientCAFile?: string }; webhook?: { enabled?: boolean }; anonymous?: { enabled?: boolean } };
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
  providerID?: string;
}

/** Rejects with an Error when the file is not a KubeletConfiguration. */
async function readConfiguration(path: string): Promise<KubeletConfiguration> {
  const value = parseYaml(await readFile(path, 'utf8')).value as KubeletConfiguration | undefined;
  if (value?.kind !== 'KubeletConfiguration' || value.apiVersion !== 'kubelet.config.k8s.io/v1beta1')
    throw new Error(
      `failed to load kubelet config file, path: ${path}, error: no kind "KubeletConfiguration" of kubelet.config.k8s.io/v1beta1 in it`,
    );
  return value;
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

export interface KubeletSettings {
  options: KubeletOptions;
  serving: Omit<KubeletServerOptions, 'listen'>;
}

/** `changed`: flags given on the command line. Rejects with an Error for unreadable files and values. */
export async function kubeletSettings(values: KubeletFlagValues, changed: ReadonlySet<string>): Promise<KubeletSettings> {
  const file = values.config === '' ? {} : await readConfiguration(values.config);
  /** The flag when given, else the file's value, else the flag's default. */
  const pick = <T>(name: Name, own: T, fromFile: T | undefined): T => (changed.has(name) ? own : (fromFile ?? own));
  const nodeName = (values.hostnameOverride || hostname()).trim().toLowerCase();
  const base = defaultOptions(nodeName);
  const logSize = pick('containerLogMaxSize', values.containerLogMaxSize, file.containerLogMaxSize);
  const options: KubeletOptions = {
    ...base,
    nodeIPs: parseNodeIPs(values.nodeIp),
    registerNode: pick('registerNode', values.registerNode, file.registerNode),
    registerWithTaints: pick('registerWithTaints', values.registerWithTaints.map(parseTaint), file.registerWithTaints),
    nodeLabels: values.nodeLabels,
    cloudProvider: parseCloudProvider(values.cloudProvider),
    providerID: pick('providerId', values.providerId, file.providerID),
    podsMax: pick('maxPods', values.maxPods, file.maxPods),
    reserved: reservedOf(file.systemReserved, file.kubeReserved),
    clusterDNS: pick('clusterDns', values.clusterDns, file.clusterDNS),
    clusterDomain: pick('clusterDomain', values.clusterDomain, file.clusterDomain),
    rootDir: values.rootDir,
    podLogsDir: pick('podLogsDir', values.podLogsDir, file.podLogsDir) || base.podLogsDir,
    podManifestPath: pick('podManifestPath', values.podManifestPath, file.staticPodPath),
    containerRuntimeEndpoint:
      pick('containerRuntimeEndpoint', values.containerRuntimeEndpoint, file.containerRuntimeEndpoint) ||
      base.containerRuntimeEndpoint,
    cgroupRoot: pick('cgroupRoot', values.cgroupRoot, file.cgroupRoot),
    cgroupsPerQOS: pick('cgroupsPerQos', values.cgroupsPerQos, file.cgroupsPerQOS),
    port: pick('port', values.port, file.port),
    address: pick('address', values.address, file.address),
    serializeImagePulls: pick('serializeImagePulls', values.serializeImagePulls, file.serializeImagePulls),
    eviction: { hard: evictionOf(changed.has('evictionHard') ? values.evictionHard : file.evictionHard) ?? base.eviction.hard },
    imageGcHighPercent: pick('imageGcHighThreshold', values.imageGcHighThreshold, file.imageGCHighThresholdPercent),
    imageGcLowPercent: pick('imageGcLowThreshold', values.imageGcLowThreshold, file.imageGCLowThresholdPercent),
    imageAgeMsMin: durationOf(file.imageMinimumGCAge) ?? base.imageAgeMsMin,
    imageAgeMsMax: durationOf(file.imageMaximumGCAge) ?? base.imageAgeMsMax,
    containerLogMaxBytes: parseQuantity(logSize).value(),
    containerLogMaxFiles: pick('containerLogMaxFiles', values.containerLogMaxFiles, file.containerLogMaxFiles),
    nodeStatusUpdateMs: pick(
      'nodeStatusUpdateFrequencyMs',
      values.nodeStatusUpdateFrequencyMs,
      durationOf(file.nodeStatusUpdateFrequency),
    ),
    nodeStatusReportMs: durationOf(file.nodeStatusReportFrequency) ?? base.nodeStatusReportMs,
    leaseSeconds: file.nodeLeaseDurationSeconds ?? base.leaseSeconds,
    resolvConf: pick('resolvConf', values.resolvConf, file.resolvConf),
    podInfraImage: values.podInfraContainerImage || base.podInfraImage,
  };
  return { options, serving: await servingOf(values, changed, file, options) };
}

const durationOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseDurationMs(text));
const evictionOf = (list: Record<string, string> | undefined): Record<string, string> | undefined =>
  list === undefined || Object.keys(list).length === 0 ? undefined : list;

/** With a configuration file anonymous requests are refused and the webhooks used, unless it says otherwise: v1beta1's defaults. */
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
      : issueSelfSigned(options.nodeName, options.nodeIPs.filter(isSpecific));
  return {
    tls: { ...pair, ...(caFile !== '' && { ca: await readFile(caFile, 'utf8') }) },
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
