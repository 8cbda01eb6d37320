// Marks on nodes that tests look for.
import type { Node } from '#api/core/v1';

export const isShutdownTaint = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key }) => key === 'node.cloudprovider.kubernetes.io/shutdown');
