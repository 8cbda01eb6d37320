// fsGroup: a volume's files belong to the pod's group, which may read and write them (upstream pkg/volume/volume_linux.go). Pods that share the volume
// may be running: nothing they swap for a link is followed.
import { chmod, chown, lchown } from 'node:fs/promises';
import { Descriptor, holding, walkTree } from '#host';

const groupReadWrite = 0o660;
const groupRead = 0o440;
const execute = 0o110;
const setGid = 0o2000;

const permissions = 0o7777n;

/** The mode of a file that the group of its volume may read, and write unless the volume is for reading. */
export const groupMode = (mode: number, { readOnly, directory }: { readOnly: boolean; directory: boolean }): number =>
  mode | (readOnly ? groupRead : groupReadWrite) | (directory ? setGid | execute : 0);

/** `onRootMismatch`: leave a volume alone whose root already is right. */
export async function applyFsGroup(
  path: string,
  gid: number,
  { readOnly, onRootMismatch }: { readOnly: boolean; onRootMismatch: boolean },
): Promise<void> {
  await holding(Descriptor.at(path), async (top) => {
    if (onRootMismatch && top.info.gid === BigInt(gid) && (top.info.mode & BigInt(setGid)) !== 0n) return;
    await walkTree(top, async ({ info, path: held }, place) => {
      if (info.isSymbolicLink()) {
        if (place) await lchown(place.directory.entry(place.name), -1, gid);
        return;
      }
      await chown(held, -1, gid);
      await chmod(held, groupMode(Number(info.mode & permissions), { readOnly, directory: info.isDirectory() }));
    });
  });
}
