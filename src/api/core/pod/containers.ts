// Walking a pod's containers (pkg/apis/core/pods, VisitContainersWithPath).
import type { Container, EphemeralContainer, PodSpec } from '#api/core/v1';
import type { Path } from '#apimachinery/field';

export type AnyContainer = Container | EphemeralContainer;

/** All containers of a pod: init containers, containers, ephemeral containers, in this order. */
export const containersOf = (spec: PodSpec): AnyContainer[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

/** Visits the containers of all three lists, each with its path below the spec's path. */
export function visitContainers(spec: PodSpec, path: Path, visit: (container: AnyContainer, path: Path) => void): void {
  for (const name of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    const list: AnyContainer[] | undefined = spec[name];
    list?.forEach((container, index) => visit(container, path.child(name).index(index)));
  }
}

/** An init container that runs along with the containers: a sidecar (KEP-753). */
export const isSidecar = (container: { restartPolicy?: string } | undefined): boolean => container?.restartPolicy === 'Always';
