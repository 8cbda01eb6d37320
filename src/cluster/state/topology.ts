// The shape of a cluster's control plane, as its first start chose it.
import { type UpFlags, upDefaults } from '../flags/index.ts';
import type { ClusterSettings, RuntimeChoice } from './settings.ts';

/** The shape of a cluster is chosen once; the endpoint's mode at any time. */
export function topologyOf(
  options: Pick<UpFlags, 'topology' | 'endpointAccess'>,
  before: ClusterSettings | undefined,
  runtime: RuntimeChoice,
): Pick<ClusterSettings, 'topology' | 'endpointAccess'> {
  const was = before && (before.topology ?? upDefaults.topology);
  const topology = options.topology ?? was ?? upDefaults.topology;
  if (was && topology !== was) throw new Error(`this cluster is ${was}; its topology cannot change`);
  if (topology === 'self-managed') {
    if (options.endpointAccess) throw new Error('--endpoint-access is for --topology managed');
    return { topology };
  }
  if (runtime === 'simulated') throw new Error('a managed topology needs real nodes: networks of its own, as root');
  return { topology, endpointAccess: options.endpointAccess ?? before?.endpointAccess ?? upDefaults.endpointAccess };
}
