// A container's mounts out of its pod's volumes (upstream kubelet_pods.go makeMounts, pkg/volume/util/subpath).
import { mkdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Container, VolumeMount } from '#api/core/v1';
import type { Mount } from '#cri';
import { isErrno } from '#host';
import { quote } from '#utils';
import { expand } from '../env/expand.ts';
import type { MountedVolume } from './manager.ts';

const propagations: Record<string, Mount['propagation']> = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

const inside = (path: string, root: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);

/** The part of a volume to mount; a missing one becomes a directory. It cannot be led out of the volume by links. */
async function subPathOf(root: string, subPath: string, describe: string): Promise<string> {
  if (subPath.startsWith('/')) throw new Error(`error SubPath \`${subPath}\` must not be an absolute path`);
  if (subPath.split('/').includes('..')) throw new Error(`unable to provision SubPath \`${subPath}\`: must not contain '..'`);
  const whole = await realpath(root);
  const path = join(whole, subPath);
  try {
    await stat(path);
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error;
    let parent = whole;
    for (const part of subPath.split('/').filter((word) => word !== '' && word !== '.')) {
      parent = join(parent, part);
      await mkdir(parent, { mode: (await stat(whole)).mode & 0o777 }).catch((failure: unknown) => {
        if (!isErrno(failure, 'EEXIST'))
          throw new Error(`failed to create subPath directory for ${describe}`, { cause: failure });
      });
      parent = await realpath(parent);
      if (!inside(parent, whole)) throw new Error(`failed to prepare subPath for ${describe}`);
    }
  }
  const resolved = await realpath(path);
  if (!inside(resolved, whole)) throw new Error(`failed to prepare subPath for ${describe}`);
  return resolved;
}

function subPathText(mount: VolumeMount, environment: ReadonlyMap<string, string>): string {
  if (!mount.subPathExpr) return mount.subPath ?? '';
  let missing = false;
  const text = expand(mount.subPathExpr, (name) => {
    const value = environment.get(name);
    missing ||= !value;
    return value;
  });
  if (missing) throw new Error(`missing value for ${quote(mount.subPathExpr)}`);
  return text;
}

/** Rejects with an Error whose message becomes that of CreateContainerConfigError. */
export async function containerMounts(
  container: Container,
  volumes: ReadonlyMap<string, MountedVolume>,
  environment: ReadonlyMap<string, string>,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const mount of container.volumeMounts ?? []) {
    const volume = volumes.get(mount.name);
    if (volume === undefined)
      throw new Error(`cannot find volume ${quote(mount.name)} to mount into container ${quote(container.name)}`);
    const subPath = subPathText(mount, environment);
    const describe = `volumeMount ${quote(mount.name)} of container ${quote(container.name)}`;
    const { mountPath } = mount;
    mounts.push({
      containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
      hostPath: subPath === '' ? volume.hostPath : await subPathOf(volume.hostPath, subPath, describe),
      readonly: mount.readOnly === true || volume.readOnly,
      propagation: propagations[mount.mountPropagation ?? 'None'],
    });
  }
  return mounts;
}
