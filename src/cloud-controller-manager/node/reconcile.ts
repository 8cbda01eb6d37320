// What is to happen to one Node (k8s.io/cloud-provider controllers/node/node_controller.go): a tainted one is initialised from its machine, the
// addresses of others are kept fresh. Pure.
import type { Node, NodeAddress } from '#api/core/v1';
import { type InstanceMetadata, uninitializedTaint } from '#cloud-provider';
import { action, type Effect, type Plan, type ViewContext } from '#controller-runtime';
import { mergePatch, nodes } from '#controller-runtime/platform';
import { deepEqual } from '#utils';
import { askNode, type CloudView, instanceMetadata, nodeAddresses } from '../ask.ts';
import { asNode } from '../events.ts';
import { addressesOf } from './addresses.ts';
import { labelsFrom, labelsToReconcile } from './labels.ts';
import { nodeConflictDelayMs } from '../limits.ts';

export interface NodeMemory {
  uid: string;
  /** When the addresses were last asked for. */
  addressesAtMs?: number;
  /** What the cloud said, while the write that follows from it met conflicts. */
  metadata?: InstanceMetadata;
}

export interface NodeView extends CloudView {
  node: Node | undefined;
  memory: NodeMemory | undefined;
  lastFailure: ViewContext['lastFailure'];
}

export interface NodeConfig {
  /** `--node-status-update-frequency`. */
  nodeStatusUpdateFrequencyMs: number;
  instances: { readonly needsProviderId: boolean };
}

/** Counts how long a Node waited for its machine. */
export const observeInitialized = action<Node>('observeInitialized');

export const isTainted = ({ spec }: Node): boolean => (spec?.taints ?? []).some(({ key }) => key === uninitializedTaint);

export function reconcileNode(config: NodeConfig, view: NodeView, now: number): Plan {
  const { node } = view;
  if (!node || node.metadata.deletionTimestamp) return { effects: [] };
  const known = view.memory?.uid === node.metadata.uid ? view.memory : undefined;
  return isTainted(node) ? initialize(config, node, known, view, now) : refresh(config, node, known, view, now);
}

/** Writes the addresses; nothing when they are what they are (upstream patches whenever two are of one type). */
const writeAddresses = (node: Node, addresses: readonly NodeAddress[]): Effect[] =>
  deepEqual(node.status?.addresses ?? [], addresses)
    ? []
    : [{ ...mergePatch(nodes, node, { status: { addresses } }, { subresource: 'status' }), afterSuccess: true }];

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function initialize(config: NodeConfig, node: Node, known: NodeMemory | undefined, view: NodeView, now: number): Plan {
  const { name = '', uid = '' } = node.metadata;
  const kept = view.lastFailure?.reason === 'Conflict' ? known?.metadata : undefined;
  const question = askNode(instanceMetadata, node);
  const answer = kept ? { value: kept } : instanceMetadata.answer(view, question);
  if (!answer) return { effects: [], needsAnswers: [question] };
  if ('error' in answer)
    return { effects: [], failure: `failed to get instance metadata for node ${name}: ${answer.error.message}` };
  const metadata = answer.value;
  if (!metadata) return { effects: [], because: 'The cloud does not know the machine yet, so the node stays uninitialized.' };
  const providerID = node.spec?.providerID || metadata.providerId;
  if (!providerID && config.instances.needsProviderId)
    return { effects: [], failure: `cloud provider does not set node provider ID for node ${name}` };
  let addresses: NodeAddress[];
  try {
    addresses = addressesOf(node, metadata.nodeAddresses);
  } catch (error) {
    return {
      effects: [],
      failure: `failed to get node modifiers from cloud provider: provided node ip for node "${name}" is not valid: ${messageOf(error)}`,
    };
  }
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== uninitializedTaint);
  const object: Node = {
    ...asNode(node),
    metadata: { ...node.metadata, labels: labelsFrom(metadata, node.metadata.labels) },
    spec: { ...node.spec, ...(providerID && { providerID }), taints },
  };
  return {
    effects: [
      {
        op: 'update',
        resource: nodes,
        object,
        events: { regarding: asNode(node), success: { reason: 'Synced', message: 'Node synced successfully' } },
      },
      observeInitialized.on(node),
      ...(metadata.nodeAddresses.length > 0 ? writeAddresses(node, addresses) : []),
    ],
    remember: { uid, metadata, addressesAtMs: now } satisfies NodeMemory,
    requeueAfterMs: config.nodeStatusUpdateFrequencyMs,
    afterConflictMs: nodeConflictDelayMs,
    because: `Its machine is ${providerID || 'known by name'}, so the node is initialized.`,
  };
}

function refresh(config: NodeConfig, node: Node, known: NodeMemory | undefined, view: NodeView, now: number): Plan {
  const { uid = '' } = node.metadata;
  const labels = labelsToReconcile(node.metadata.labels);
  const reconcileLabels: Effect[] =
    Object.keys(labels).length > 0 ? [mergePatch(nodes, node, { metadata: { uid, labels } })] : [];
  const everyMs = config.nodeStatusUpdateFrequencyMs;
  const sinceMs = known?.addressesAtMs === undefined || view.lastFailure ? everyMs : now - known.addressesAtMs;
  if (sinceMs < everyMs)
    return {
      effects: reconcileLabels,
      remember: { uid, addressesAtMs: now - sinceMs } satisfies NodeMemory,
      requeueAfterMs: everyMs - sinceMs,
    };
  const question = askNode(nodeAddresses, node);
  const answer = nodeAddresses.answer(view, question);
  if (!answer) return { effects: [], needsAnswers: [question] };
  const later = { remember: { uid, addressesAtMs: now } satisfies NodeMemory, requeueAfterMs: everyMs };
  const unchanged = (because: string): Plan => ({ ...later, effects: reconcileLabels, because });
  if ('error' in answer) return unchanged(`The cloud could not be asked for the addresses: ${answer.error.message}`);
  const offered = answer.value ?? [];
  if (offered.length === 0) return unchanged('The cloud gave no addresses, so they stay.');
  try {
    return { ...later, effects: [...reconcileLabels, ...writeAddresses(node, addressesOf(node, offered))] };
  } catch (error) {
    return unchanged(`The addresses stay: ${messageOf(error)}`);
  }
}
