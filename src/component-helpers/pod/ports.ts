// Host ports pods take on a node (upstream scheduler NodePorts).
import type { Pod } from '#api/core/v1';
import { isRestartableInitContainer } from './restart.ts';

export interface HostPort {
  protocol: string;
  hostIP: string;
  hostPort: number;
}

const anyAddress = '0.0.0.0';

/** Host ports of the containers that run side by side. */
export function hostPorts(pod: Pod): HostPort[] {
  const sidecars = (pod.spec?.initContainers ?? []).filter(isRestartableInitContainer);
  return [...sidecars, ...(pod.spec?.containers ?? [])].flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ protocol = 'TCP', hostIP, hostPort = 0 }) => ({ protocol, hostIP: hostIP || anyAddress, hostPort })),
  );
}

/** Two pods cannot both have these. */
export const portsConflict = (a: HostPort, b: HostPort): boolean =>
  a.hostPort === b.hostPort &&
  a.protocol === b.protocol &&
  (a.hostIP === b.hostIP || a.hostIP === anyAddress || b.hostIP === anyAddress);
