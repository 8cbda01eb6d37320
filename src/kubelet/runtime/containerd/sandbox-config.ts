// The runtime's description of a pod sandbox (upstream kuberuntime_sandbox.go generatePodSandboxConfig). Pure.
import type { Pod } from '#api/core/v1';
import { hostPorts, isHostNetworkPod } from '#component-helpers/pod';
import type { PodSandboxConfig, PortMapping } from '#cri';
import type { DnsConfig } from '../../network/dns.ts';
import { podLogDirectory } from '../../logs/pod-log-directory.ts';
import { dottedSysctl } from '../../node/sysctls.ts';
import { sandboxLabels } from './labels.ts';
import { sandboxSecurity } from './security-context.ts';

export interface SandboxInput {
  attempt: number;
  hostname: string;
  dns: DnsConfig;
  podLogsDir: string;
  cgroupParent: string;
}

const portMappings = (pod: Pod): PortMapping[] => {
  if (isHostNetworkPod(pod)) return [];
  const taken = hostPorts(pod);
  const ports = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].flatMap(
    (container) => container.ports ?? [],
  );
  return ports
    .filter(({ hostPort = 0 }) => hostPort > 0 && taken.some((port) => port.hostPort === hostPort))
    .map(({ protocol = 'TCP', containerPort, hostPort = 0, hostIP = '' }) => ({
      protocol: protocol as PortMapping['protocol'],
      containerPort,
      hostPort,
      hostIp: hostIP,
    }));
};

export function sandboxConfig(pod: Pod, input: SandboxInput): PodSandboxConfig {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const sysctls = (pod.spec?.securityContext?.sysctls ?? []).map((sysctl): [string, string] => [
    dottedSysctl(sysctl.name),
    sysctl.value,
  ]);
  return {
    metadata: { name, namespace, uid, attempt: input.attempt },
    hostname: isHostNetworkPod(pod) ? '' : input.hostname,
    logDirectory: podLogDirectory(input.podLogsDir, { name, namespace, uid }),
    dnsConfig: input.dns,
    portMappings: portMappings(pod),
    labels: sandboxLabels(pod),
    annotations: { ...pod.metadata.annotations },
    linux: {
      cgroupParent: input.cgroupParent,
      securityContext: sandboxSecurity(pod),
      sysctls: Object.fromEntries(sysctls),
    },
  };
}
