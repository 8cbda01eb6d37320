// Where volumes of CSI drivers are on a node, and what is kept beside them for a kubelet that starts anew (upstream pkg/volume/csi csi_util.go): those of pods at
// `pods/<uid>/volumes/kubernetes.io~csi/<name>/mount`, staged ones at `plugins/kubernetes.io/csi/<driver>/<hash of the handle>/globalmount`.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, isErrno } from '#host';
import { sha256Hex } from '#pki';

export const volumesFolder = 'kubernetes.io~csi';
const dataFile = 'vol_data.json';

export interface VolumeData {
  specVolID: string;
  volumeHandle: string;
  driverName: string;
  nodeName: string;
  /** Name of the VolumeAttachment; empty for what needs none. */
  attachmentID: string;
  volumeLifecycleMode: 'Persistent' | 'Ephemeral';
}

export const volumeDir = (rootDir: string, podUid: string, name: string): string =>
  join(rootDir, 'pods', podUid, 'volumes', volumesFolder, name);
export const targetOf = (directory: string): string => join(directory, 'mount');
export const stagingDir = (rootDir: string, driver: string, handle: string): string =>
  join(rootDir, 'plugins', 'kubernetes.io', 'csi', driver, sha256Hex(handle));
export const stagingPath = (directory: string): string => join(directory, 'globalmount');

export const attachmentName = (handle: string, driver: string, nodeName: string): string =>
  `csi-${sha256Hex(`${handle}${driver}${nodeName}`)}`;
export const uniqueName = (driver: string, handle: string): string => `kubernetes.io/csi/${driver}^${handle}`;
export const ephemeralHandle = (podUid: string, name: string): string => `csi-${sha256Hex(`${podUid}${name}`)}`;

export const saveData = (directory: string, data: VolumeData): Promise<void> =>
  atomicWrite(join(directory, dataFile), JSON.stringify(data), { mode: 0o640 });

/** Undefined: nothing was begun there. */
export async function readData(directory: string): Promise<VolumeData | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, dataFile), 'utf8')) as VolumeData;
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

const namesIn = (directory: string): Promise<string[]> => readdir(directory).catch(() => []);

/** Of the volumes of all pods that have a directory. */
export async function volumesOfPods(rootDir: string): Promise<{ podUid: string; data: VolumeData }[]> {
  const found: { podUid: string; data: VolumeData }[] = [];
  for (const podUid of await namesIn(join(rootDir, 'pods')))
    for (const name of await namesIn(join(rootDir, 'pods', podUid, 'volumes', volumesFolder))) {
      const data = await readData(volumeDir(rootDir, podUid, name)).catch(() => undefined);
      if (data) found.push({ podUid, data });
    }
  return found;
}
