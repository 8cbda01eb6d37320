// Probes of simulated containers: they pass, unless the pod's annotation says that it is not ready. No timer, no request.
import type { ProbeManager } from '../../probes/types.ts';
import type { SimulatedRuntime } from './index.ts';

export const simulatedProbes = (runtime: SimulatedRuntime): ProbeManager => ({
  results: {
    get: (id, kind) => (kind === 'readiness' && !runtime.isReady(id) ? 'failure' : 'success'),
  },
  sync() {},
  stopLivenessAndStartup() {},
  remove() {},
  metrics: async () => '',
  close() {},
});
