// What a pod's sandbox and its containers are made with: the pod's spec, and what else the node has to prepare for them (mounts, the hosts file, the
// file for the termination message, the folder of the log) (pkg/kubelet/kuberuntime, kuberuntime_container.go, kuberuntime_sandbox.go).
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod } from '#api/core/v1';
import { isHostNetworkPod } from '#component-helpers/pod';
import type { Mount } from '#cri';
import type { Rng } from '#utils';
import type { CgroupManager } from '../../cgroups/manager.ts';
import type { CreateRequest } from '../../container/runtime.ts';
import { podLogDirectory } from '../../logs/pod-log-directory.ts';
import type { DnsConfig } from '../../network/dns.ts';
import { hostNetworkHostsFile, podHostsFile } from '../../network/hosts-file.ts';
import { podNames } from '../../network/names.ts';
import { containerDevices, containerMounts } from '../../volumes/container-mounts.ts';
import type { VolumeManager } from '../../volumes/manager.ts';
import { containerConfig } from './container-config.ts';
import { messageDirectory } from './records.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { verifyRunAsNonRoot } from './security-context.ts';

export interface ConfigureDeps {
  rng: Rng;
  cgroups: CgroupManager;
  volumes: VolumeManager;
  /** A container's environment; rejects with what CreateContainerConfigError says. */
  environment(pod: Pod, container: Container, podIPs: readonly string[]): Promise<ReadonlyMap<string, string>>;
  dns(pod: Pod): Promise<DnsConfig>;
  podLogsDir: string;
  clusterDomain: string;
  seccompDir: string;
  /** Containers without a seccomp profile get RuntimeDefault. */
  seccompDefault?: boolean;
  memoryCapacityBytes: number;
}

export async function configureSandbox(
  pod: Pod,
  attempt: number,
  { podLogsDir, clusterDomain, cgroups, dns }: ConfigureDeps,
): Promise<ReturnType<typeof sandboxConfig>> {
  return sandboxConfig(pod, {
    attempt,
    hostname: podNames(pod, clusterDomain).kernelName,
    dns: await dns(pod),
    podLogsDir,
    cgroupParent: cgroups.parentOf(pod),
  });
}

/** Prepares files and folders of the container on the way. Rejects with what CreateContainerConfigError says. */
export async function configureContainer(
  request: CreateRequest,
  deps: ConfigureDeps,
): Promise<ReturnType<typeof containerConfig>> {
  const { pod, container, image, restartCount, podIPs, targetId } = request;
  const { volumes, memoryCapacityBytes, seccompDir, seccompDefault = false, podLogsDir } = deps;
  const uid = pod.metadata.uid ?? '';
  verifyRunAsNonRoot(pod, container, image);
  const environment = await deps.environment(pod, container, podIPs);
  for (const [name, { id }] of request.imageVolumes) await volumes.mountImage(pod, name, id);
  const mounts = await containerMounts({
    container,
    volumes: volumes.mounted(uid),
    environment,
    subPath: (part) => volumes.subPath(uid, part),
  });
  const devices = containerDevices(container, volumes.mounted(uid));
  if (!mounts.some(({ containerPath }) => containerPath === '/etc/hosts')) mounts.push(await hostsMount(pod, podIPs, deps));
  if (container.terminationMessagePath) mounts.push(await messageMount(uid, container, deps));
  const { name = '', namespace = '' } = pod.metadata;
  await mkdir(join(podLogDirectory(podLogsDir, { name, namespace, uid }), container.name), { recursive: true, mode: 0o755 });
  return containerConfig({
    pod,
    container,
    image,
    restartCount,
    environment,
    mounts,
    devices,
    memoryCapacityBytes,
    seccompDir,
    seccompDefault,
    targetId,
  });
}

/** One hosts file per pod, written anew for every container: the address is known only once there is a sandbox. */
async function hostsMount(pod: Pod, podIPs: readonly string[], { volumes, clusterDomain }: ConfigureDeps): Promise<Mount> {
  const path = join(volumes.podDir(pod.metadata.uid ?? ''), 'etc-hosts');
  const { hostname, domain } = podNames(pod, clusterDomain);
  const aliases = pod.spec?.hostAliases;
  const content = isHostNetworkPod(pod)
    ? hostNetworkHostsFile(await readFile('/etc/hosts', 'utf8').catch(() => ''), aliases)
    : podHostsFile(podIPs, hostname, domain, aliases);
  await writeFile(path, content, { mode: 0o644 });
  return { containerPath: '/etc/hosts', hostPath: path, readonly: false };
}

/** A new file for every start of a container: its last words are not those of the start before. */
async function messageMount(uid: string, container: Container, { volumes, rng }: ConfigureDeps): Promise<Mount> {
  const directory = messageDirectory(volumes.podDir(uid), container.name);
  await mkdir(directory, { recursive: true, mode: 0o750 });
  const name = rng.int(2 ** 32).toString(16);
  const path = join(directory, name.padStart(8, '0'));
  await writeFile(path, '');
  await chmod(path, 0o666);
  return { containerPath: container.terminationMessagePath ?? '', hostPath: path };
}
