// Watches over nodes (pkg/controller/nodelifecycle). The key `nodes` looks at all of them every few seconds, for zones are disrupted
// together; a key per node reacts at once to what its status says.
import type { Lease } from '#api/coordination/v1';
import type { Node, Pod } from '#api/core/v1';
import { type ControllerDefinition, defineController, watch } from '#controller-runtime';
import { leases, nodeIndexer, nodes, pods, podsByNode } from '#controller-runtime/platform';
import { nodeControllerRights } from '../node-controller-rights.ts';
import type { ControllersConfig } from '../config.ts';
import type { HealthConfig } from './health.ts';
import { monitor, type MonitorMemory, type MonitorView } from './monitor.ts';
import { isSilent, type NodeView, reconcileNode } from './node.ts';
import type { ZoneConfig } from './zones.ts';

const leaseNamespace = 'kube-node-lease';
const allKey = 'nodes';
const prefix = 'node/';

type View = ({ of: 'all' } & MonitorView) | ({ of: 'node' } & NodeView);
type Config = HealthConfig & ZoneConfig & Pick<ControllersConfig, 'nodeMonitorPeriodMs'>;

export const nodeLifecycleController = (config: Config): ControllerDefinition =>
  defineController<View>({
    name: 'node-lifecycle-controller',
    aliases: ['nodelifecycle'],
    for: (key) => (key === allKey ? undefined : { ...nodes, key: key.slice(prefix.length) }),
    serviceAccount: 'node-controller',
    eventSource: 'node-controller',
    rights: nodeControllerRights,
    watches: [
      watch<Node>({
        resource: nodes,
        keys: (node, old) => [`${prefix}${node.metadata.name}`, ...(old ? [] : [allKey])],
      }),
      watch<Lease>({ resource: leases }),
      watch<Pod>({
        resource: pods,
        indexers: nodeIndexer,
        keys(pod, old, cache) {
          const name = pod.spec?.nodeName;
          if (!name || old?.spec?.nodeName === name) return [];
          return isSilent(cache.get<Node>(nodes, '', name)) ? [`${prefix}${name}`] : [];
        },
      }),
    ],
    periodic: { everyMs: config.nodeMonitorPeriodMs, keys: () => [allKey] },
    view(key, cache, { memory, monotonicMs }) {
      if (key === allKey)
        return {
          of: 'all',
          nodes: cache.list<Node>(nodes),
          lease: (name) => cache.get<Lease>(leases, leaseNamespace, name),
          memory: memory as MonitorMemory | undefined,
          monotonicMs,
        };
      const name = key.slice(prefix.length);
      const node = cache.get<Node>(nodes, '', name);
      return { of: 'node', node, pods: isSilent(node) ? cache.byIndex<Pod>(pods, podsByNode, name) : [] };
    },
    reconcile: (view, now) => (view.of === 'all' ? monitor(config, view, now) : reconcileNode(view, now)),
  });
