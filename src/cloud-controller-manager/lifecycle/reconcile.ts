// What is to happen to a Node that does not answer (k8s.io/cloud-provider controllers/nodelifecycle): gone with its machine, or marked as shut
// down with it. Pure.
import type { Node, Taint } from '#api/core/v1';
import { shutdownTaint } from '#cloud-provider';
import type { Effect, Plan } from '#controller-runtime';
import { mergePatch, nodes, refOf } from '#controller-runtime/platform';
import { askNode, type CloudView, instanceExists, instanceShutdown } from '../ask.ts';
import { asNode, normal } from '../events.ts';

export interface LifecycleView extends CloudView {
  node: Node | undefined;
}

const isReady = ({ status }: Node): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True');
const taintsOf = ({ spec }: Node): Taint[] => spec?.taints ?? [];
const isMarked = (node: Node): boolean => taintsOf(node).some(({ key }) => key === shutdownTaint);

/** Whether a look at the Node can lead to anything. */
export const needsLook = (node: Node): boolean => !isReady(node) || isMarked(node);

/** The list is replaced whole, so the Node must be the one that was seen. */
const patchTaints = (node: Node, taints: readonly Taint[]): Effect =>
  mergePatch(nodes, node, {
    metadata: { uid: node.metadata.uid, resourceVersion: node.metadata.resourceVersion },
    spec: { taints },
  });

export function reconcileLifecycle(view: LifecycleView): Plan {
  const { node } = view;
  if (!node || node.metadata.deletionTimestamp) return { effects: [] };
  if (isReady(node)) {
    if (!isMarked(node)) return { effects: [] };
    const taints = taintsOf(node).filter(({ key }) => key !== shutdownTaint);
    return { effects: [patchTaints(node, taints)], because: 'It is ready again, so it is not shut down.' };
  }
  const existence = askNode(instanceExists, node);
  const exists = instanceExists.answer(view, existence);
  if (!exists) return { effects: [], needsAnswers: [existence] };
  const { name = '' } = node.metadata;
  if ('error' in exists) return { effects: [], failure: `error checking if node ${name} exists: ${exists.error.message}` };
  if (!exists.value) return gone(node, name);
  if (isMarked(node)) return { effects: [] };
  const power = askNode(instanceShutdown, node);
  const shutdown = instanceShutdown.answer(view, power);
  if (!shutdown) return { effects: [], needsAnswers: [power] };
  if ('error' in shutdown) {
    if ('code' in shutdown.error && shutdown.error.code === 'NotImplemented')
      return { effects: [], because: 'The cloud cannot tell whether its machine is shut down.' };
    return { effects: [], failure: `error checking if node ${name} is shutdown: ${shutdown.error.message}` };
  }
  if (!shutdown.value) return { effects: [], because: 'Its machine runs.' };
  return {
    effects: [patchTaints(node, [...taintsOf(node), { key: shutdownTaint, effect: 'NoSchedule' }])],
    because: 'Its machine is shut down.',
  };
}

function gone(node: Node, name: string): Plan {
  const regarding = asNode(node);
  return {
    effects: [
      normal(regarding, 'DeletingNode', `Deleting node ${name} because it does not exist in the cloud provider`),
      {
        op: 'delete',
        ref: refOf(nodes, node),
        options: { preconditions: { uid: node.metadata.uid ?? '' } },
        events: { regarding, failure: { reason: 'DeletingNodeFailed', message: `Failed deleting node ${name}: {error}` } },
      },
    ],
    because: 'Its machine is gone, so the node is deleted.',
  };
}
