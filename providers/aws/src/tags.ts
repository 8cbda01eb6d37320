// How resources say which cluster they belong to (cloud-provider-aws tags.go). Pure.

export const clusterTagPrefix = 'kubernetes.io/cluster/';
/** The tag of clusters from before 2017: its value is the name of the cluster. */
export const legacyClusterTag = 'KubernetesCluster';
export const serviceTag = 'kubernetes.io/service-name';
export const publicSubnetTag = 'kubernetes.io/role/elb';
export const internalSubnetTag = 'kubernetes.io/role/internal-elb';

/** A tag as EC2 and both load balancer APIs give it. */
export interface Tag {
  Key?: string | undefined;
  Value?: string | undefined;
}

export interface ClusterTags {
  /** Name of the cluster. */
  readonly id: string;
  /** New resources get the old tag as well. */
  readonly legacy: boolean;
}

export const hasTag = (tags: readonly Tag[] | undefined, key: string): boolean => (tags ?? []).some(({ Key }) => Key === key);
export const tagValue = (tags: readonly Tag[] | undefined, key: string): string | undefined =>
  tags?.find(({ Key }) => Key === key)?.Value;

const hasLegacyTag = ({ id }: ClusterTags, tags: readonly Tag[] | undefined): boolean =>
  (tags ?? []).some(({ Key, Value }) => Key === legacyClusterTag && Value === id);

/** Whether the tagged thing belongs to this cluster or is shared with it. */
export const inCluster = (cluster: ClusterTags, tags: readonly Tag[] | undefined): boolean =>
  hasTag(tags, clusterTagPrefix + cluster.id) || hasLegacyTag(cluster, tags);

/** Whether the tagged thing was made for this cluster and is deleted with it. */
export const ownedByCluster = (cluster: ClusterTags, tags: readonly Tag[] | undefined): boolean =>
  tagValue(tags, clusterTagPrefix + cluster.id) === 'owned' || hasLegacyTag(cluster, tags);

/** Whether no cluster has a claim on what has these tags. */
export const inNoCluster = (tags: readonly Tag[] | undefined): boolean =>
  !(tags ?? []).some(({ Key }) => Key?.startsWith(clusterTagPrefix));

/** Tags of a resource that is made for the cluster. */
export const ownedTags = (cluster: ClusterTags, more: Readonly<Record<string, string>> = {}): Required<Tag>[] =>
  Object.entries({
    ...more,
    ...(cluster.legacy && { [legacyClusterTag]: cluster.id }),
    [clusterTagPrefix + cluster.id]: 'owned',
  }).map(([Key, Value]) => ({ Key, Value }));

/**
 * What a resource that was found lacks of the tags it was made with. Throws when it carries one of them with another value: then it is
 * somebody else's.
 */
export function missingTags(
  resource: string,
  wanted: readonly Required<Tag>[],
  found: readonly Tag[] | undefined,
): Required<Tag>[] {
  const missing = wanted.filter(({ Key }) => !tagValue(found, Key));
  for (const { Key, Value } of wanted) {
    const actual = tagValue(found, Key);
    if (actual && actual !== Value)
      throw new Error(`resource "${resource}" has tag belonging to another cluster: "${Key}"="${actual}" (expected "${Value}")`);
  }
  return missing;
}

/** The cluster an instance says it is in. Throws for two of a kind, for two that differ, and for none. */
export function clusterOfTags(tags: readonly Tag[] | undefined): ClusterTags {
  const named = (tags ?? []).flatMap(({ Key }) =>
    Key?.startsWith(clusterTagPrefix) ? [Key.slice(clusterTagPrefix.length)] : [],
  );
  if (named.length > 1)
    throw new Error(`Found multiple cluster tags with prefix ${clusterTagPrefix} ("${named[0]}" and "${named[1]}")`);
  return clusterNamed(tagValue(tags, legacyClusterTag), named[0]);
}

/** From the old and the new name, of which one may be absent. */
export function clusterNamed(legacy: string | undefined, name: string | undefined): ClusterTags {
  if (legacy && name && legacy !== name) throw new Error(`clusterID tags did not match: "${name}" vs "${legacy}"`);
  const id = legacy || name;
  if (!id) throw new Error('AWS cloud failed to find ClusterID');
  return { id, legacy: !!legacy };
}
