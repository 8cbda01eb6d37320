// Ports that overlap without being forbidden (pkg/api/pod, warnings.go).
import type { ContainerPort, PodSpec } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { quote } from '#utils';
import { visitContainers } from './containers.ts';

interface Known {
  path: Path;
  port: ContainerPort;
}

function overlap({ hostIP = '', hostPort = 0 }: ContainerPort, other: ContainerPort): string | undefined {
  const otherIP = other.hostIP ?? '';
  const otherPort = other.hostPort ?? 0;
  if (hostIP === otherIP && hostPort === otherPort) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  return hostPort === otherPort && (hostIP === '') !== (otherIP === '') ? 'dangerously ambiguous' : undefined;
}

// As Go prints the internal struct.
const printed = ({ name = '', hostPort = 0, containerPort, protocol, hostIP = '' }: ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

export function portWarnings(path: Path, spec: PodSpec): string[] {
  const warnings: string[] = [];
  const byNumber = new Map<string, Known[]>();
  const byName = new Map<string, Path>();
  const nameWarnings: string[] = [];
  visitContainers(spec, path, ({ ports }, container) => {
    ports?.forEach((port, index) => {
      const at = container.child('ports').index(index);
      if (port.hostIP && !port.hostPort) warnings.push(`${at.toString()}: hostIP set without hostPort: ${printed(port)}`);
      const key = `${port.containerPort}/${port.protocol}`;
      const others = byNumber.get(key) ?? [];
      for (const other of others) {
        const how = overlap(port, other.port);
        if (how !== undefined) warnings.push(`${at.toString()}: ${how} port definition with ${other.path.toString()}`);
      }
      byNumber.set(key, [...others, { path: at, port }]);
      if (!port.name) return;
      const first = byName.get(port.name);
      if (first === undefined) byName.set(port.name, at);
      else {
        const text = `duplicate port name ${quote(port.name)} with ${first.toString()}, services and probes that select ports by name will use ${first.toString()}`;
        nameWarnings.push(`${at.toString()}: ${text}`);
      }
    });
  });
  return [...warnings, ...nameWarnings];
}
