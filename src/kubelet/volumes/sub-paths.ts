// Parts of volumes for containers (upstream pkg/volume/util/subpath). A pod may swap anything in its volumes for a link at any moment, and the runtime
// resolves the path that it is given some hundred milliseconds later. So the part is opened step by step without leaving the volume, and what was
// opened is mounted where no pod can reach: the runtime gets the path of that mount.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Descriptor, holding, isErrno, openInside, removeTree } from '#host';
import type { Exec } from '#utils';
import { mountDescriptor, mountsUnder, unmount } from './mount-table.ts';

export interface SubPathRequest {
  /** The folder that the volume is mounted at; links on the way to it are followed. */
  volumePath: string;
  subPath: string;
  /** The volume and the mount, which name the place below the pod's directory. */
  volumeName: string;
  containerName: string;
  index: number;
  /** Names the mount in messages. */
  describe: string;
}

/** Every mount of parts of a pod's volumes is below this folder of the pod's directory. */
const folder = 'volume-subpaths';

const failure = (what: string, { describe }: SubPathRequest, cause: unknown): Error =>
  new Error(`failed to ${what} for ${describe}`, { cause });

/** Opens the part. One that is missing becomes a directory with the mode of the volume. */
async function openPart(root: Descriptor, request: SubPathRequest): Promise<Descriptor> {
  const { subPath } = request;
  if (subPath.startsWith('/')) throw new Error(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) throw new Error(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  const realPath = await root.realPath();
  try {
    return await openInside(root, subPath, { realPath });
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw failure('prepare subPath', request, error);
  }
  try {
    return await openInside(root, subPath, { realPath, make: Number(root.info.mode & 0o7777n) });
  } catch (error) {
    throw failure('create subPath directory', request, error);
  }
}

/** An empty place of the same type to mount on. */
async function prepareTarget(target: string, isDirectory: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  await removeTree(target);
  if (isDirectory) await mkdir(target, { mode: 0o750 });
  else await writeFile(target, '', { mode: 0o640, flag: 'wx' });
}

/** Gives the path for the runtime. What an earlier container of that name had there is taken away. */
export async function provideSubPath(exec: Exec, podDir: string, request: SubPathRequest): Promise<string> {
  const target = join(podDir, folder, request.volumeName, request.containerName, String(request.index));
  await holding(Descriptor.at(request.volumePath), (root) =>
    holding(openPart(root, request), async (part) => {
      for (const path of await mountsUnder(target)) await unmount(exec, path);
      try {
        await prepareTarget(target, part.info.isDirectory());
        await mountDescriptor(exec, part, target);
      } catch (error) {
        throw failure('prepare subPath', request, error);
      }
    }),
  );
  return target;
}
