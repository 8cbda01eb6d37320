// A control-plane machine that goes takes its member out of etcd while it still runs: of two, one alone could not.
import type { Clock } from '#utils';
import { membersOf, otherMembers, removeMember } from '../control-planes/etcd-members.ts';
import { controlPlaneNamed } from './own-plane.ts';

/** Gives where the control planes are that stay. */
export async function leaveEtcd(
  dir: string,
  { nodeName, nodeIp }: { nodeName: string; nodeIp: string },
  clock: Clock,
): Promise<string[]> {
  const config = await controlPlaneNamed(dir, nodeName);
  if (!config) return [];
  // The note may be older than the leaving of all others, and then nobody is left to ask.
  const now = await membersOf(config, clock).catch(() => undefined);
  if (now?.every(({ address }) => address === config.address)) return [];
  const others = await otherMembers(config);
  await removeMember(config, nodeIp, clock);
  return others;
}
