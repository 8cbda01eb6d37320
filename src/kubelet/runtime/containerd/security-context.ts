// Security settings of sandboxes and containers (upstream pkg/kubelet/kuberuntime/security_context.go, pkg/securitycontext).
import type { Container, Pod, PodSecurityContext, SeccompProfile, SecurityContext } from '#api/core/v1';
import { formatPod, isHostNetworkPod } from '#component-helpers/pod';
import type { LinuxContainerSecurityContext, LinuxSandboxSecurityContext, NamespaceOption, SecurityProfile } from '#cri';
import type { ImageInfo } from '../../container/runtime.ts';

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

/** Must be the same on the sandbox and on every container. */
export const namespacesOf = (pod: Pod, targetId?: string): NamespaceOption => ({
  network: isHostNetworkPod(pod) ? 'NODE' : 'POD',
  ipc: pod.spec?.hostIPC ? 'NODE' : 'POD',
  pid: targetId ? 'TARGET' : pod.spec?.hostPID ? 'NODE' : pod.spec?.shareProcessNamespace ? 'POD' : 'CONTAINER',
  ...(targetId && { targetId }),
});

/** The container's settings, with those of the pod where the container has no value. */
export const effective = (pod: Pod, container: Container): SecurityContext => {
  const own: PodSecurityContext = pod.spec?.securityContext ?? {};
  const { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions, seccompProfile } = own;
  const merged: SecurityContext = { runAsUser, runAsGroup, runAsNonRoot, seLinuxOptions, seccompProfile };
  for (const [name, value] of Object.entries(container.securityContext ?? {}))
    if (value !== undefined) Object.assign(merged, { [name]: value });
  return merged;
};

const supplementalGroups = (pod: Pod): number[] => {
  const { fsGroup, supplementalGroups: groups = [] } = pod.spec?.securityContext ?? {};
  return [...(fsGroup === undefined ? [] : [fsGroup]), ...groups];
};

export interface SeccompOptions {
  seccompDir: string;
  /** `--seccomp-default`: without a profile RuntimeDefault. */
  seccompDefault?: boolean;
}

function seccomp(profile: SeccompProfile | undefined, { seccompDir, seccompDefault }: SeccompOptions): SecurityProfile {
  if (profile?.type === 'RuntimeDefault' || (profile === undefined && seccompDefault)) return { profileType: 'RuntimeDefault' };
  if (profile?.type !== 'Localhost') return { profileType: 'Unconfined' };
  return { profileType: 'Localhost', localhostRef: `${seccompDir}/${profile.localhostProfile ?? ''}` };
}

const isPrivileged = (container: Container): boolean => container.securityContext?.privileged === true;

export function sandboxSecurity(pod: Pod): LinuxSandboxSecurityContext {
  const { runAsUser, runAsGroup, seLinuxOptions } = pod.spec?.securityContext ?? {};
  const all = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return {
    namespaceOptions: namespacesOf(pod),
    privileged: all.some(isPrivileged),
    seccomp: { profileType: 'RuntimeDefault' },
    supplementalGroups: supplementalGroups(pod),
    ...(runAsUser !== undefined && { runAsUser: { value: runAsUser } }),
    ...(runAsGroup !== undefined && runAsUser !== undefined && { runAsGroup: { value: runAsGroup } }),
    ...(seLinuxOptions && { selinuxOptions: seLinuxOptions }),
  };
}

/** Throws when the container must not run as root and would, or may. */
export function verifyRunAsNonRoot(pod: Pod, container: Container, image: ImageInfo): void {
  const { runAsNonRoot, runAsUser } = effective(pod, container);
  if (!runAsNonRoot) return;
  const where = `(pod: "${formatPod(pod)}", container: ${container.name})`;
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw new Error(`container's runAsUser breaks non-root policy ${where}`);
    return;
  }
  const { uid, name } = image.user ?? {};
  if (uid === undefined && name)
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${name}), cannot verify user is non-root ${where}`,
    );
  if ((uid ?? 0) === 0) throw new Error(`container has runAsNonRoot and image will run as root ${where}`);
}

export function containerSecurity(
  pod: Pod,
  container: Container,
  image: ImageInfo,
  options: SeccompOptions & { targetId?: string },
): LinuxContainerSecurityContext {
  const settings = effective(pod, container);
  const { runAsUser = image.user?.uid, runAsGroup, capabilities, procMount } = settings;
  const privileged = settings.privileged === true;
  const open = privileged || procMount === 'Unmasked';
  return {
    namespaceOptions: namespacesOf(pod, options.targetId),
    privileged,
    readonlyRootfs: settings.readOnlyRootFilesystem === true,
    noNewPrivs: settings.allowPrivilegeEscalation === false,
    supplementalGroups: supplementalGroups(pod),
    seccomp: privileged ? { profileType: 'Unconfined' } : seccomp(settings.seccompProfile, options),
    ...(!open && { maskedPaths, readonlyPaths }),
    ...(capabilities && { capabilities: { addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? [] } }),
    ...(runAsUser !== undefined && { runAsUser: { value: runAsUser } }),
    ...(runAsUser === undefined && image.user?.name && { runAsUsername: image.user.name }),
    ...(runAsGroup !== undefined && { runAsGroup: { value: runAsGroup } }),
    ...(settings.seLinuxOptions && { selinuxOptions: settings.seLinuxOptions }),
  };
}
