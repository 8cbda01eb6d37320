// Options of the components that share the process of `sagong up`, with a user's flags over them: each is read by the component's own table and rules,
// once with what the assembly would say on a command line and once with the user's words behind it.
import type { KubeApiServerOptions } from '#apiserver/app';
import type { CloudControllersConfig } from '#cloud-controller-manager';
import { flagTexts, type FlagTexts } from '#component-base';
import type { ControllersConfig } from '#controllers';
import type { KubeProxyOptions } from '#kube-proxy';
import type { KubeletSettings } from '#kubelet';
import type { KubeSchedulerOptions } from '#scheduler';
import { readFile } from 'node:fs/promises';
import { clusterNetworks } from '../state/networks.ts';
import { overlay } from './overlay.ts';
import { parseWords } from './tables.ts';

type Words = readonly string[];

/** What the assembly would say on the apiserver's command line. */
function ownWords({ audit }: KubeApiServerOptions): Words {
  const { policyFile, log } = audit;
  return [
    '--enable-aggregator-routing',
    '--enable-bootstrap-token-auth',
    '--allow-privileged',
    '--enable-admission-plugins=NodeRestriction',
    '--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP',
    `--service-cluster-ip-range=${clusterNetworks.serviceCidr}`,
    `--service-account-issuer=https://kubernetes.default.svc.${clusterNetworks.domain}`,
    ...(policyFile === '' ? [] : [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log.path}`]),
  ];
}

/** What /flagz of the apiserver shows. */
export async function apiserverFlagTexts(served: KubeApiServerOptions, given: Words): Promise<FlagTexts> {
  const table = (await import('#apiserver/app')).kubeApiServerFlags();
  const address = [`--secure-port=${served.securePort}`, `--advertise-address=${served.advertiseAddress}`];
  return flagTexts(table, parseWords('kube-apiserver', table, [...ownWords(served), ...address, ...given]).values);
}

export async function apiserverWith(ours: KubeApiServerOptions, given: Words): Promise<KubeApiServerOptions> {
  const { kubeApiServerFlags, optionsFromFlags, requestHeaderTrust } = await import('#apiserver/app');
  const own = ownWords(ours);
  const options = async (words: Words): Promise<KubeApiServerOptions> => {
    const { values, changed } = parseWords('kube-apiserver', kubeApiServerFlags(), words);
    const read = await optionsFromFlags(values, changed);
    // Names and headers are a user's also where the authority is the cluster's.
    const requestHeader = read.requestHeader ?? (ours.requestHeader && requestHeaderTrust(values, ours.requestHeader.ca));
    return { ...read, ...(requestHeader && { requestHeader }) };
  };
  return overlay(ours, await options(own), await options([...own, ...given]));
}

export interface ManagerSettings {
  config: ControllersConfig;
  controllers: string[];
  concurrency?: Readonly<Record<string, number>>;
  controllerStartIntervalMs?: number;
}

/** The cluster brings its authorities itself; how long what they sign is good is a user's. */
function signingFor(config: ControllersConfig, durationMs: number): ControllersConfig {
  const { clusterSigning, clusterSigners } = config;
  return {
    ...config,
    ...(clusterSigning && { clusterSigning: { ...clusterSigning, durationMs } }),
    ...(clusterSigners && {
      clusterSigners: Object.fromEntries(Object.entries(clusterSigners).map(([name, own]) => [name, { ...own, durationMs }])),
    }),
  };
}

export async function managerWith(ours: ManagerSettings, given: Words): Promise<ManagerSettings> {
  const { concurrencyOf, controllersConfigOf, kubeControllerManagerFlags } = await import('#controller-manager');
  const own = [
    '--allocate-node-cidrs',
    `--cluster-cidr=${ours.config.clusterCidrs.join(',')}`,
    `--service-cluster-ip-range=${clusterNetworks.serviceCidr}`,
    `--controllers=${ours.controllers.join(',')}`,
  ];
  const settings = (words: Words): ManagerSettings => {
    const { values } = parseWords('kube-controller-manager', kubeControllerManagerFlags(), words);
    const { controllers, controllerStartIntervalMs } = values;
    return { config: controllersConfigOf(values), controllers, controllerStartIntervalMs, concurrency: concurrencyOf(values) };
  };
  const changed = settings([...own, ...given]);
  const all = overlay({ ...ours, concurrency: changed.concurrency ?? {} }, settings(own), changed);
  const { clusterSigningDurationMs } = parseWords('kube-controller-manager', kubeControllerManagerFlags(), given).values;
  return { ...all, config: signingFor(all.config, clusterSigningDurationMs) };
}

export async function schedulerWith(given: Words): Promise<KubeSchedulerOptions> {
  const { kubeSchedulerFlags, optionsFromFlags } = await import('#scheduler');
  const { values } = parseWords('kube-scheduler', kubeSchedulerFlags(), given);
  const text = values.config ? await readFile(values.config, 'utf8') : undefined;
  // One process holds the store: nobody else can lead.
  const { kubeconfig: _, leaderElection: __, ...options } = optionsFromFlags(values, text);
  return options;
}

/** What `sagong up` decides of a cloud-controller-manager and a user's flags may change. */
export interface CloudManagerSettings {
  config: CloudControllersConfig;
  controllers: string[];
  controllerStartIntervalMs?: number;
  allowUntaggedCloud?: boolean;
}

export async function cloudManagerWith(ours: CloudManagerSettings, given: Words): Promise<CloudManagerSettings> {
  const { cloudControllerManagerFlags, configFromFlags } = await import('#cloud-controller-manager');
  const settings = (words: Words): CloudManagerSettings => {
    const { values } = parseWords('cloud-controller-manager', cloudControllerManagerFlags, words);
    const { controllers, controllerStartIntervalMs, allowUntaggedCloud } = values;
    return { config: configFromFlags(values), controllers, controllerStartIntervalMs, allowUntaggedCloud };
  };
  return overlay(ours, settings([]), settings(given));
}

/** What a node decides of its kubelet and a user's flags may change. */
export interface NodeKubelet extends Pick<KubeletSettings, 'options' | 'serving' | 'healthz'> {
  /** Warnings about flags that are accepted and change nothing. */
  warnings: readonly string[];
}

/** The certificate is the node's own, whatever else is served how. */
function withoutPair({ options, serving, healthz, warnings }: KubeletSettings): object {
  if (!serving) return { options, healthz, warnings };
  const { cert: _, key: __, ca: ___, ...tls } = serving.tls;
  return { options, healthz, warnings, serving: { ...serving, tls } };
}

export async function kubeletWith(ours: Omit<NodeKubelet, 'warnings'>, given: Words): Promise<NodeKubelet> {
  const { kubeletFlags, kubeletSettings } = await import('#kubelet');
  const { cloudProvider } = ours.options;
  const own = [
    `--cloud-provider=${cloudProvider}`,
    '--anonymous-auth=false',
    '--authentication-token-webhook=true',
    '--authorization-mode=Webhook',
  ];
  const settings = async (words: Words) => {
    const { values, changed } = parseWords('kubelet', kubeletFlags, words);
    return withoutPair(await kubeletSettings(values, changed));
  };
  return overlay<NodeKubelet>({ ...ours, warnings: [] }, await settings(own), await settings([...own, ...given]));
}

export async function proxyWith(ours: KubeProxyOptions, given: Words): Promise<KubeProxyOptions> {
  const { kubeProxyFlags, optionsFromFlags } = await import('#kube-proxy');
  const options = (words: Words) => optionsFromFlags(parseWords('kube-proxy', kubeProxyFlags, words).values);
  return overlay(ours, options([]), options(given));
}
