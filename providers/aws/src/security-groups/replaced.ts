// A group that was made for a load balancer and that it no longer has is deleted, with the rules that let it in: while there is one, AWS keeps the group.
// All other groups are somebody's, whatever their tags say: they stay, and so do their rules.
import type { Cloud } from '../cloud.ts';
import { deleteGroups, ownGroupByName, revokeAdmission } from './groups.ts';

/** `made`: the name of the group that is made for this load balancer. */
export async function removeReplacedGroup(
  cloud: Cloud,
  loadBalancer: string,
  made: string,
  replaced: readonly string[],
): Promise<void> {
  if (replaced.length === 0) return;
  const id = await ownGroupByName(cloud, made);
  if (id === undefined || !replaced.includes(id)) return;
  await revokeAdmission(cloud, id);
  await deleteGroups(cloud, loadBalancer, [id]);
}
