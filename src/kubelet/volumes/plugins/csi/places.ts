// Where volumes of CSI drivers are on a node, and what is kept beside them for a kubelet that starts anew (upstream pkg/volume/csi csi_util.go, csi_block.go). File
// systems of pods are at `pods/<uid>/volumes/kubernetes.io~csi/<name>/mount`, staged ones at `plugins/kubernetes.io/csi/<driver>/<hash of the handle>/globalmount`.
// Devices are below `plugins/kubernetes.io/csi/volumeDevices`, with a link for each pod at `pods/<uid>/volumeDevices/kubernetes.io~csi/<name>`.
import { lstat, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { atomicWrite, isErrno } from '#host';
import { sha256Hex } from '#pki';

const volumesFolder = 'kubernetes.io~csi';
const dataFile = 'vol_data.json';

export interface VolumeData {
  specVolID: string;
  volumeHandle: string;
  driverName: string;
  nodeName: string;
  /** The name of the VolumeAttachment; empty for drivers that do not attach. */
  attachmentID: string;
  volumeLifecycleMode: 'Persistent' | 'Ephemeral';
}

/** The paths of one volume of one pod. */
export interface Places {
  /** The directory, or the link to the device, that says that the pod has the volume. */
  ofPod: string;
  /** The path at which the driver publishes the volume. */
  target: string;
  /** The path at which the driver stages the volume for the whole node. */
  staging: string;
  /** Directories with what is kept about it for the pod, and for the node. */
  podData: string;
  nodeData: string;
}

export interface Placed {
  name: string;
  driver: string;
  handle: string;
  block: boolean;
}

const pluginDir = (rootDir: string): string => join(rootDir, 'plugins', 'kubernetes.io', 'csi');
const devicesDir = (rootDir: string): string => join(pluginDir(rootDir), 'volumeDevices');
const podFolder = (rootDir: string, podUid: string, block: boolean): string =>
  join(rootDir, 'pods', podUid, block ? 'volumeDevices' : 'volumes', volumesFolder);
const dataOfDevice = (rootDir: string, name: string): string => join(devicesDir(rootDir), name, 'data');

export function placesOf(rootDir: string, podUid: string, { name, driver, handle, block }: Placed): Places {
  const ofPod = join(podFolder(rootDir, podUid, block), name);
  if (block) {
    const [devices, data] = [devicesDir(rootDir), dataOfDevice(rootDir, name)];
    const [target, staging] = [join(devices, 'publish', name, podUid), join(devices, 'staging', name)];
    return { ofPod, target, staging, podData: data, nodeData: data };
  }
  const nodeData = join(pluginDir(rootDir), driver, sha256Hex(handle));
  return { ofPod, target: join(ofPod, 'mount'), staging: join(nodeData, 'globalmount'), podData: ofPod, nodeData };
}

export const attachmentName = (handle: string, driver: string, nodeName: string): string =>
  `csi-${sha256Hex(`${handle}${driver}${nodeName}`)}`;
export const uniqueName = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`;
export const ephemeralHandle = (podUid: string, name: string): string => `csi-${sha256Hex(`${podUid}${name}`)}`;

export const saveData = (directory: string, data: VolumeData): Promise<void> =>
  atomicWrite(join(directory, dataFile), JSON.stringify(data), { mode: 0o640 });

/** Reads what was noted of a volume; undefined where nothing was begun in the directory. */
async function readData(directory: string): Promise<VolumeData | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, dataFile), 'utf8')) as VolumeData;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

/** A volume that a pod has or had, as found on the disk. */
export interface FoundVolume {
  podUid: string;
  block: boolean;
  data: VolumeData;
}

/** The CSI volumes of one pod that are on this node. A volume whose data cannot be read is an error, because nobody could remove it. */
export async function volumesOfPod(rootDir: string, podUid: string): Promise<FoundVolume[]> {
  const found: FoundVolume[] = [];
  for (const block of [false, true])
    for (const name of await namesIn(podFolder(rootDir, podUid, block))) {
      const directory = block ? dataOfDevice(rootDir, name) : join(podFolder(rootDir, podUid, false), name);
      const data = await readData(directory);
      if (data) found.push({ podUid, block, data });
    }
  return found;
}

/** The volumes of all pods that have a directory, as far as it can be read. */
export async function volumesOfPods(rootDir: string): Promise<FoundVolume[]> {
  const lists = (await namesIn(join(rootDir, 'pods'))).map((podUid) => volumesOfPod(rootDir, podUid).catch(() => []));
  return (await Promise.all(lists)).flat();
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Whether the volume was staged, or might have been: its driver is asked to undo it then. */
export const wasStaged = async ({ staging, nodeData }: Places, block: boolean): Promise<boolean> =>
  block ? isThere(staging) : (await readData(nodeData)) !== undefined;

/** Only the thing itself, never what is in it: a driver that says it has unmounted and has not must not cost anybody their data. */
const removeEmpty = (path: string): Promise<void> => rmdir(path).catch(() => rm(path, { force: true }).catch(() => {}));

/** Removes a volume's target once the volume has been unpublished. */
export const removeTarget = ({ target }: Places): Promise<void> => removeEmpty(target);

/** Removes the staging folder once the volume has been unpublished from the last pod and unstaged. */
export async function forgetStaging({ target, staging, nodeData }: Places, block: boolean): Promise<void> {
  await removeEmpty(staging);
  await rm(join(nodeData, dataFile), { force: true });
  if (!block) return;
  for (const path of [dirname(target), nodeData, dirname(nodeData)]) await rmdir(path).catch(() => {});
}

/** Removes what is kept for a pod once it no longer has the volume. */
export async function forgetOfPod({ ofPod, podData }: Places, block: boolean): Promise<void> {
  if (block) await rm(ofPod, { force: true });
  else await rm(join(podData, dataFile), { force: true });
}
