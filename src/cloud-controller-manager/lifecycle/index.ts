// The cloud node lifecycle controller: every few seconds it asks the cloud about the Nodes that are not ready.
import type { Node } from '#api/core/v1';
import { type ControllerDefinition, defineController, watch } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { cloudView, instanceExists, instanceShutdown } from '../ask.ts';
import type { InstanceSource } from '../instance-source.ts';
import { lifecycleConcurrency } from '../limits.ts';
import { type LifecycleView, needsLook, reconcileLifecycle } from './reconcile.ts';

export interface LifecycleControllerOptions {
  instances: InstanceSource;
  /** `--node-monitor-period`. */
  nodeMonitorPeriodMs: number;
}

export const cloudNodeLifecycleController = (options: LifecycleControllerOptions): ControllerDefinition =>
  defineController<LifecycleView>({
    name: 'cloud-node-lifecycle-controller',
    aliases: ['cloud-node-lifecycle'],
    for: nodes,
    serviceAccount: 'node-controller',
    rights: [allow('delete,get,list,patch,watch', 'core', 'nodes'), recordEvents],
    watches: [watch<Node>({ resource: nodes })],
    periodic: {
      everyMs: options.nodeMonitorPeriodMs,
      keys: (cache) =>
        cache
          .list<Node>(nodes)
          .filter(needsLook)
          .map(({ metadata }) => metadata.name ?? ''),
    },
    view: (key, cache, context) => ({ ...cloudView(context), node: cache.get<Node>(nodes, '', key) }),
    reconcile: reconcileLifecycle,
    questions: () => [
      instanceExists.by((node, signal) => options.instances.instanceExists(node, signal)),
      instanceShutdown.by((node, signal) => options.instances.instanceShutdown(node, signal)),
    ],
    // A failure waits for the next look, as everything here does.
    backoff: { baseMs: options.nodeMonitorPeriodMs, maxMs: options.nodeMonitorPeriodMs },
    concurrency: lifecycleConcurrency,
  });
