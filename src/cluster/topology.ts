// The shape of a cluster's control plane, as its first start chose it.
import type { ClusterSettings, RuntimeChoice } from './settings.ts';
import type { UpOptions } from './up.ts';

/** The shape of a cluster is chosen once; the endpoint's mode at any time. */
export function topologyOf(
  options: Pick<UpOptions, 'topology' | 'endpointAccess'>,
  before: ClusterSettings | undefined,
  runtime: RuntimeChoice,
): Pick<ClusterSettings, 'topology' | 'endpointAccess'> {
  const topology = options.topology ?? before?.topology ?? 'self-managed';
  if (before && topology !== (before.topology ?? 'self-managed'))
    throw new Error(`this cluster is ${before.topology ?? 'self-managed'}; its topology cannot change`);
  if (topology === 'self-managed') {
    if (options.endpointAccess) throw new Error('--endpoint-access is for --topology managed');
    return { topology };
  }
  if (runtime === 'simulated') throw new Error('a managed topology needs real nodes: networks of its own, as root');
  return { topology, endpointAccess: options.endpointAccess ?? before?.endpointAccess ?? 'public-and-private' };
}
