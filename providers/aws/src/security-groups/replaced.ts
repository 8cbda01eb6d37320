// Groups that a load balancer had and no longer has: nodes let them in no more, and those that were made for it are deleted.
import type { Cloud } from '../cloud.ts';
import { inCluster, ownedByCluster } from '../tags.ts';
import { deleteGroups, groupsById, revokeAdmission } from './groups.ts';

export async function removeReplacedGroups(cloud: Cloud, loadBalancer: string, replaced: readonly string[]): Promise<void> {
  const { cluster } = cloud.identity;
  for (const id of replaced) await revokeAdmission(cloud, id, ({ Tags }) => inCluster(cluster, Tags));
  const owned = (await groupsById(cloud, replaced)).filter(({ Tags }) => ownedByCluster(cluster, Tags));
  await deleteGroups(
    cloud,
    loadBalancer,
    owned.flatMap(({ GroupId }) => GroupId ?? []),
  );
}
