// A machine that is a node of a cluster: what it keeps on its disk, and how its parts are configured. Everything is in one folder, so that all of it
// can be found and removed.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyKubeconfig, kubeconfigFor, writeKubeconfig } from '#client';
import { atomicWrite, readFileIfExists } from '#host';
import type { ComponentArgs } from '../flags/component-args.ts';
import { findCniDir, hasSysResource } from '../capabilities.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import type { RegistryMirror } from '../nodes/index.ts';
import { clusterMark } from '../state/paths.ts';
import type { KeptFlags } from '../flags/index.ts';
import { clusterNetworks } from '../state/networks.ts';
import type { ProxyMode } from '#kube-proxy';

/** What a joined machine keeps of itself, in `machine.json`. */
export interface MachineSettings {
  nodeName: string;
  nodeIp: string;
  /** `https://10.0.0.1:6443`. */
  server: string;
  podCidr: string;
  registryMirrors: RegistryMirror[];
  /** Default: iptables. */
  proxyMode?: ProxyMode;
  /** Default: nftables. */
  networkPolicy?: KeptFlags['networkPolicy'];
  /** A user's flags of the kubelet, as words of a command line. */
  kubeletArgs?: readonly string[];
  /** Absent: it is a node alone. */
  controlPlane?: ControlPlaneOfMachine;
}

/** What a machine knows of the control plane of which it is a part. */
export interface ControlPlaneOfMachine {
  cluster: string;
  /** `10.0.0.1:6443`: under which all control planes are found. */
  endpoint: string;
  encryptSecrets: boolean;
  /** The cluster's flags of its components. */
  args?: ComponentArgs;
}

export const machinePaths = (dir: string) => ({
  settings: join(dir, 'machine.json'),
  agentConfig: join(dir, 'agent.json'),
  agentPid: join(dir, 'agent.pid'),
  agentLog: join(dir, 'logs', 'agent.log'),
  bootstrapKubeconfig: join(dir, 'bootstrap-kubelet.conf'),
  kubeconfig: join(dir, 'kubelet.conf'),
  certificates: join(dir, 'pki'),
  authority: join(dir, 'ca.crt'),
  apiservers: join(dir, 'apiservers.json'),
});

/** Name of the machine's cgroup: everything that it runs is in it. */
export const machineCgroup = (dir: string): string => `sagong-${clusterMark(dir)}-machine`;

/** What a machine cannot do without. */
const settingNames = ['nodeName', 'nodeIp', 'server', 'podCidr'] as const;

/**
 * Reads what the machine in a folder keeps of itself; undefined where there is no node. Rejects with a sentence that names the file where
 * that cannot be read.
 */
export async function loadMachine(dir: string): Promise<MachineSettings | undefined> {
  const { settings: path } = machinePaths(dir);
  const text = (await readFileIfExists(path))?.toString('utf8');
  if (text === undefined) return undefined;
  try {
    const settings = JSON.parse(text) as MachineSettings | null;
    const missing = settingNames.filter((name) => typeof settings?.[name] !== 'string');
    if (settings && missing.length === 0) return settings;
    throw new Error(`${missing.join(', ')} missing`);
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`${path} is not readable (${why}): restore it, or remove ${dir} and join again`, { cause: error });
  }
}

/** Writes what the agent needs; `token` only until the kubelet has its certificate. */
export async function prepareMachine(dir: string, settings: MachineSettings, ca: string, token: string): Promise<void> {
  const paths = machinePaths(dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await atomicWrite(paths.authority, ca, { mode: 0o644 });
  await writeKubeconfig(paths.bootstrapKubeconfig, {
    ...emptyKubeconfig(),
    ...kubeconfigFor('kubelet-bootstrap', { server: settings.server, ca, token }),
  });
  await saveMachine(dir, settings);
}

/** Writes the settings of a machine. Its node agent reads them when it starts the next time. */
export async function saveMachine(dir: string, settings: MachineSettings): Promise<void> {
  await writeAgentConfig(dir, settings);
  await atomicWrite(machinePaths(dir).settings, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
}

async function writeAgentConfig(dir: string, settings: MachineSettings): Promise<void> {
  const paths = machinePaths(dir);
  const { hostname: host, port } = new URL(settings.server);
  const config: NodeAgentConfig = {
    nodeName: settings.nodeName,
    nodeIp: settings.nodeIp,
    nodeDir: dir,
    kubeletKubeconfig: paths.kubeconfig,
    kubeProxyKubeconfig: '',
    dnsKubeconfig: '',
    ...(settings.networkPolicy !== 'none' && { networkPolicyKubeconfig: '' }),
    ...(settings.proxyMode && { proxyMode: settings.proxyMode }),
    ...(settings.kubeletArgs && { kubeletArgs: settings.kubeletArgs }),
    apiserver: { host: host.replace(/^\[|\]$/g, ''), port: Number(port || 443) },
    cniBinDir: findCniDir() ?? '/usr/lib/cni',
    restrictOomScoreAdj: process.platform === 'linux' && !hasSysResource(),
    registryMirrors: settings.registryMirrors,
    clusterDns: clusterNetworks.dnsServiceIp,
    clusterDomain: clusterNetworks.domain,
    clusterCidr: settings.podCidr,
    tlsCertFile: '',
    tlsPrivateKeyFile: '',
    clientCaFile: paths.authority,
    cloudProvider: '',
    machine: {
      bootstrapKubeconfig: paths.bootstrapKubeconfig,
      certificates: paths.certificates,
      cgroupRoot: machineCgroup(dir),
      ...(settings.controlPlane === undefined && { apiservers: paths.apiservers }),
    },
  };
  await atomicWrite(paths.agentConfig, JSON.stringify(config, null, 2), { mode: 0o600 });
}
