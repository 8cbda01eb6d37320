// A container's mounts out of its pod's volumes (upstream kubelet_pods.go makeMounts).
import type { Container, VolumeMount } from '#api/core/v1';
import type { ContainerConfig, Mount } from '#cri';
import { quote } from '#utils';
import { expand } from '../env/expand.ts';
import type { MountedVolume } from '../container/volume.ts';
import type { SubPathRequest } from './sub-paths.ts';

const propagations: Record<string, Mount['propagation']> = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

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

export interface ContainerMountsInput {
  container: Container;
  volumes: ReadonlyMap<string, MountedVolume>;
  environment: ReadonlyMap<string, string>;
  /** Makes a part of a volume available; gives its path for the runtime. */
  subPath(request: SubPathRequest): Promise<string>;
}

/** Rejects with an Error whose message becomes that of CreateContainerConfigError. */
export async function containerMounts({ container, volumes, environment, subPath }: ContainerMountsInput): Promise<Mount[]> {
  const mounts: Mount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const { name, mountPath } = mount;
    const volume = volumes.get(name);
    if (volume === undefined)
      throw new Error(`cannot find volume ${quote(name)} to mount into container ${quote(container.name)}`);
    const part = subPathText(mount, environment);
    const describe = `volumeMount ${quote(name)} of container ${quote(container.name)}`;
    const place = { volumePath: volume.hostPath, volumeName: name, containerName: container.name, index };
    mounts.push({
      containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
      hostPath: part === '' ? volume.hostPath : await subPath({ ...place, subPath: part, describe }),
      readonly: mount.readOnly === true || volume.readOnly,
      propagation: propagations[mount.mountPropagation ?? 'None'],
    });
  }
  return mounts;
}

/** The devices that a container asks for among its pod's volumes (upstream makeBlockVolumes). Throws an Error for CreateContainerConfigError. */
export function containerDevices(
  { name: container, volumeDevices = [] }: Container,
  volumes: ReadonlyMap<string, MountedVolume>,
): NonNullable<ContainerConfig['devices']> {
  return volumeDevices.map(({ name, devicePath }) => {
    const volume = volumes.get(name);
    if (!volume?.block) throw new Error(`cannot find volume ${quote(name)} to pass into container ${quote(container)}`);
    return { containerPath: devicePath, hostPath: volume.hostPath, permissions: volume.readOnly ? 'r' : 'mrw' };
  });
}
