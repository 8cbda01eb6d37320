// The cloud node controller: machines become Nodes on which something may run (requirements of `--cloud-provider=external`).
import type { Node } from '#api/core/v1';
import { type ControllerDefinition, defineController, watch } from '#controller-runtime';
import { nodes } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import { cloudView, instanceMetadata, nodeAddresses } from '../ask.ts';
import type { InstanceSource } from '../instance-source.ts';
import type { CloudMetrics } from '../metrics.ts';
import { type NodeConfig, type NodeMemory, type NodeView, observeInitialized, reconcileNode } from './reconcile.ts';

export interface NodeControllerOptions extends NodeConfig {
  instances: InstanceSource;
  metrics: CloudMetrics;
  /** Nodes in work at once. */
  concurrency: number;
}

/** Heartbeats and conditions say nothing to this loop (upstream looks at every update). */
const sameForUs = (a: Node, b: Node): boolean =>
  a.metadata.uid === b.metadata.uid &&
  a.spec?.providerID === b.spec?.providerID &&
  deepEqual(a.spec?.taints, b.spec?.taints) &&
  deepEqual(a.metadata.labels, b.metadata.labels) &&
  deepEqual(a.metadata.annotations, b.metadata.annotations);

export const cloudNodeController = (options: NodeControllerOptions): ControllerDefinition =>
  defineController<NodeView>({
    name: 'cloud-node-controller',
    aliases: ['cloud-node'],
    for: nodes,
    serviceAccount: 'node-controller',
    rights: [allow('get,list,patch,update,watch', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), recordEvents],
    watches: [
      watch<Node>({
        resource: nodes,
        keys: (node, old) => (old && sameForUs(node, old) ? [] : [node.metadata.name ?? '']),
      }),
    ],
    view: (key, cache, context) => ({
      ...cloudView(context),
      node: cache.get<Node>(nodes, '', key),
      memory: context.memory as NodeMemory | undefined,
      lastFailure: context.lastFailure,
    }),
    reconcile: (view, now) => reconcileNode(options, view, now),
    questions: () => [
      instanceMetadata.by((node, signal) => options.instances.instanceMetadata(node, signal)),
      nodeAddresses.by((node, signal) => options.instances.nodeAddresses(node, signal)),
    ],
    actions: ({ clock }) => [
      observeInitialized.by(({ metadata }) => {
        options.metrics.initialized(clock.now() - Date.parse(metadata.creationTimestamp ?? ''));
        return Promise.resolve(undefined);
      }),
    ],
    concurrency: options.concurrency,
  });
