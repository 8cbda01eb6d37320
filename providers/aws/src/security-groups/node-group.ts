// Which of an instance's security groups lets load balancers in: the one that is tagged as the cluster's, else the only one. Pure.
import type { GroupIdentifier, Instance } from '@aws-sdk/client-ec2';

/** The security group of an instance that lets load balancers in; undefined where it has none. Throws when it cannot be told which. */
export function nodeGroup(
  { InstanceId = '', SecurityGroups = [] }: Instance,
  isTagged: (groupId: string) => boolean,
): string | undefined {
  const groups = SecurityGroups.flatMap(({ GroupId, GroupName }: GroupIdentifier) => (GroupId ? [{ GroupId, GroupName }] : []));
  const tagged = groups.filter(({ GroupId }) => isTagged(GroupId));
  if (tagged.length > 1)
    throw new Error(
      `Multiple tagged security groups found for instance ${InstanceId}; ensure only the k8s security group is tagged; the tagged groups were ${tagged
        .map(({ GroupId, GroupName }) => `${GroupId}(${GroupName})`)
        .join(' ')}`,
    );
  if (tagged[0]) return tagged[0].GroupId;
  if (groups.length > 1)
    throw new Error(
      `Multiple untagged security groups found for instance ${InstanceId}; ensure the k8s security group is tagged`,
    );
  return groups[0]?.GroupId;
}

/** The groups of all these instances, each once. */
export const nodeGroups = (instances: Iterable<Instance>, isTagged: (groupId: string) => boolean): Set<string> =>
  new Set([...instances].flatMap((instance) => nodeGroup(instance, isTagged) ?? []));
