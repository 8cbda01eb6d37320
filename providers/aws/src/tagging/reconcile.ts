// What the tagging controller does about one Node, or about the instance of a Node that is gone (cloud-provider-aws
// pkg/controllers/tagging/tagging_controller.go). Pure but for the checksum.
import { createHash } from 'node:crypto';
import type { CloudEffect, CloudPlan, Node } from 'sagong/cloud-provider';
import { instanceIdOfProviderId, isFargate } from '../instances/provider-id.ts';
import { taggingRetriesMax } from '../limits.ts';

/** A Node carries the checksum of the tags that its instance has. */
export const taggedLabel = 'k8s.io/cloud-provider-aws';

export const checksumOf = (tags: Readonly<Record<string, string>>): string =>
  createHash('md5')
    .update(
      Object.entries(tags)
        .map(([key, value]) => `${key}=${value}`)
        .sort()
        .join(','),
    )
    .digest('hex');

export const isTagged = ({ metadata }: Node, checksum: string): boolean => metadata.labels?.[taggedLabel] === checksum;

/** Keys of the queue: the name of a Node to tag the instance of, or a provider ID to untag. */
export const addKey = (nodeName: string): string => `ADD ${nodeName}`;
export const deleteKey = (nodeName: string, providerId: string): string => `DELETE ${nodeName} ${providerId}`;

export interface TaggingView {
  action: 'ADD' | 'DELETE';
  providerId: string;
  /** ADD: absent, it is gone. */
  node: Node | undefined;
  /** For DELETE: whether a Node has this instance again. */
  inUse: boolean;
  /** Attempts that failed since the last success. */
  failures: number;
}

/** What the actions of the tagging loop are given. */
export interface TaggingWork {
  instanceId: string;
  node: Node | undefined;
}

function instanceOf(providerId: string): string | undefined {
  try {
    return instanceIdOfProviderId(providerId);
  } catch {
    return undefined;
  }
}

const nothing = (because: string): CloudPlan => ({ effects: [], because });

export function reconcileTags(checksum: string, { action, providerId, node, inUse, failures }: TaggingView): CloudPlan {
  if (action === 'ADD' && !node) return nothing('The node is gone.');
  if (action === 'ADD' && node && isTagged(node, checksum)) return nothing('The instance was tagged before.');
  if (inUse) return nothing('Another node has this instance.');
  const instanceId = instanceOf(providerId);
  if (instanceId === undefined) return nothing(`There is no instance in the provider ID "${providerId}".`);
  if (isFargate(instanceId)) return nothing('A Fargate node has no instance that could be tagged.');
  const work: TaggingWork = { instanceId, node };
  const failed = (name: string): CloudEffect[] => (failures > 0 ? [{ op: 'action', name, input: work }] : []);
  if (failures > taggingRetriesMax)
    return {
      effects: failed('gaveUp'),
      because: `Tagging failed ${failures} times; the next change of the node tries it again.`,
    };
  return {
    effects: [...failed('failedBefore'), { op: 'action', name: action === 'ADD' ? 'tag' : 'untag', input: work }],
    remember: failures,
    because: action === 'ADD' ? 'The tags of the instance are not the wanted ones.' : 'The node is gone, so its tags go.',
  };
}

/** The plan after the call that tagged the instance: the Node is marked as tagged. */
export function taggedPlan(node: Node, checksum: string): CloudPlan {
  const { name = '', uid } = node.metadata;
  const body = { metadata: { ...(uid !== undefined && { uid }), labels: { [taggedLabel]: checksum } } };
  const ref = { resource: { group: '', version: 'v1', resource: 'nodes' }, namespace: '', name };
  const observe: CloudEffect[] =
    node.metadata.labels?.[taggedLabel] === undefined ? [{ op: 'action', name: 'observeFirst', input: node }] : [];
  return { effects: [{ op: 'patch', ref, type: 'application/strategic-merge-patch+json', body, goneIsDone: true }, ...observe] };
}
