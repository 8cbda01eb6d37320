// What a cluster is, as chosen at its first `up` and kept in `<data-dir>/cluster.json`: later starts find the same cluster again.
import { join } from 'node:path';
import type { EmulatorName } from '#cloud/emulators';
import { atomicWrite, isErrno, LockHeldError, readFileIfExists, withLock } from '#host';
import type { ComponentArgs } from '../flags/component-args.ts';
import type { KeptFlags } from '../flags/index.ts';

export type RuntimeChoice = 'containerd' | 'simulated';

export interface EtcdLocation {
  servers: string[];
  /** Absolute paths. */
  caFile?: string;
  certFile?: string;
  keyFile?: string;
}

/** A cluster of machines: where the first one is reached, and whether it is a node, too. */
export interface MachineChoice {
  advertiseAddress: string;
  node: boolean;
  /** Its etcd, apiserver and managers are processes of their own, and other machines can be control planes, too: their name for this one. */
  controlPlane?: string;
  /** `host:port` under which all control planes are found, where that is not this machine. */
  controlPlaneEndpoint?: string;
}

/** A port of this machine that leads to one of a node. */
export interface PortMapping {
  /** Number of the node, from 0. */
  node: number;
  listenAddress: string;
  hostPort: number;
  containerPort: number;
}

/** A folder of this machine that a node sees. */
export interface NodeMount {
  /** Number of the node, from 0. */
  node: number;
  /** Absolute, on this machine and on the node. */
  source: string;
  target: string;
  readOnly: boolean;
}

/** The settings of a cluster. Beside the fields named here they are the flags that are kept as they were given; an absent one has its default. */
export interface ClusterSettings extends Partial<KeptFlags> {
  name: string;
  /** Where everything of the cluster is kept; absolute. */
  dataDir: string;
  /** Nodes by name; empty for a control plane alone. */
  nodes: string[];
  runtime: RuntimeChoice;
  /** Machines of the control plane by name; absent: it is in the process of `sagong up`. */
  controlPlanes?: string[];
  /** The range of the addresses of all pods; default: `clusterNetworks.podCidr`. */
  podCidr?: string;
  /** The port of the apiserver on loopback; 0 picks a free one at the first start. */
  port: number;
  /** Ports of this machine that lead to nodes. */
  portMappings?: PortMapping[];
  /** Folders of this machine that nodes see from their first boot on. */
  mounts?: NodeMount[];
  /** Name servers for names outside the cluster, `address[:port]`; default: the machine's. */
  dnsUpstreams?: string[];
  /** Where nodes pull images from, `[registry=]url`. */
  registryMirrors?: string[];
  /** The port of a registry on loopback that nodes use, too; absent where there is none. */
  registryPort?: number;
  /** The vendor whose API stands in front of the local cloud; absent where there is none. The first start fixes it. */
  cloudEmulator?: EmulatorName;
  /** Where the data is, when not in the cluster's own store. */
  etcd?: EtcdLocation;
  /** Absent: the cluster is on one machine, and its nodes are instances of its cloud. */
  machine?: MachineChoice;
  /** Whether Secrets are encrypted in the store. Once on, it stays. */
  encryptSecrets?: boolean;
  /** A user's flags of the components. */
  componentArgs?: ComponentArgs;
  /** Further flags of a node's kubelet, by the node's name. */
  nodeArgs?: Readonly<Record<string, readonly string[]>>;
}

/** Every real node, those that the control plane is on among them. */
export const nodesOf = ({ nodes, controlPlanes = [], layout }: ClusterSettings): string[] => [
  ...(layout === 'pods' ? controlPlanes : []),
  ...nodes,
];

const settingsPath = (dataDir: string): string => join(dataDir, 'cluster.json');

export const nodeNames = (cluster: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => (cluster === 'sagong' ? `node-${index + 1}` : `${cluster}-node-${index + 1}`));

/** What every other program reads without a look. Throws for what is no cluster's. */
function settingsIn(text: string): ClusterSettings {
  const read = JSON.parse(text) as Partial<ClusterSettings> | null;
  const areNodes = Array.isArray(read?.nodes) && read.nodes.every((name) => typeof name === 'string');
  if (!areNodes || typeof read?.name !== 'string') throw new Error('it is not of a cluster');
  return read as ClusterSettings;
}

/** The settings of an existing cluster, or undefined. Throws a sentence for a broken file. */
export async function loadSettings(dataDir: string): Promise<ClusterSettings | undefined> {
  const text = (await readFileIfExists(settingsPath(dataDir)))?.toString('utf8');
  if (text === undefined) return undefined;
  try {
    return { ...settingsIn(text), dataDir };
  } catch (error) {
    throw new Error(
      `${settingsPath(dataDir)} is not readable; restore it or remove the cluster with: sagong down --data-dir ${dataDir}`,
      { cause: error },
    );
  }
}

export async function saveSettings({ dataDir, ...settings }: ClusterSettings): Promise<void> {
  await atomicWrite(settingsPath(dataDir), `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
}

const changeTimeoutMs = 30_000;

/**
 * Changes what a cluster keeps of itself, as it is by then, while no other command or process does. Rejects with a sentence where there is no
 * cluster, and where somebody else does not finish its change.
 */
export async function changeSettings(dataDir: string, change: (now: ClusterSettings) => ClusterSettings): Promise<void> {
  const keep = async (): Promise<void> => {
    const now = await loadSettings(dataDir);
    if (!now) throw new Error(`there is no cluster in ${dataDir} any more`);
    await saveSettings(change(now));
  };
  try {
    await withLock(`${settingsPath(dataDir)}.lock`, keep, changeTimeoutMs);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) throw new Error(`there is no cluster in ${dataDir} any more`, { cause: error });
    if (!(error instanceof LockHeldError)) throw error;
    throw new Error(
      `the settings of the cluster in ${dataDir} are being changed${error.pid === undefined ? '' : ` by process ${error.pid}`}: try again`,
      {
        cause: error,
      },
    );
  }
}
