// How the etcd of a control-plane machine comes to be a member: with the others at the very first start, and later, when it has no data or has lost it, in
// place of the member that it was (https://etcd.io/docs/v3.6/op-guide/runtime-configuration/). It begins as a learner, so that the others keep their
// quorum whatever becomes of it, and gets a vote when it has caught up.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EtcdMember } from '#store';
import type { Clock, Logger } from '#utils';
import { peerUrl } from './commands.ts';
import { type ControlPlaneConfig, filesOf } from './config.ts';
import { isAt, noteMembers, otherMembers, promoteOwn, throughAny } from './etcd-members.ts';
import { accepts } from '../nodes/processes.ts';
import { acceptPollMs, complaintMs, joinPollMs, membersLookMs } from './limits.ts';
import { etcdPorts } from './names.ts';
import { ownFolder } from './own-folder.ts';

interface Deps {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

export interface Membership {
  /** Name and peer URL of every member. */
  cluster: [string, string][];
  /** All begin together. */
  fresh: boolean;
}

/** Takes the lost member of this machine out and puts a new one in. Rejects when the others cannot agree on it. */
function replaceBy(through: readonly string[], config: ControlPlaneConfig, clock: Clock): Promise<Membership> {
  const isOwn = isAt(config.address);
  const nameOf = (member: EtcdMember): string => (isOwn(member) ? config.name : member.name);
  return throughAny(config, through, clock, async (members) => {
    for (const { id } of (await members.list()).filter(isOwn)) await members.remove(id);
    const all = await members.addLearner(peerUrl(config.address));
    return { fresh: false, cluster: all.flatMap((one) => one.peerUrls.map((url): [string, string] => [nameOf(one), url])) };
  });
}

/** Does `work` until it gives something; says from time to time why it does not. */
async function persist<T>(what: string, { clock, logger, signal }: Deps, work: () => Promise<T | undefined>): Promise<T> {
  let complainedMs = clock.monotonic();
  for (;;) {
    let failures = '';
    const outcome = await work().catch((error: unknown) => {
      failures = (error as Error).message;
      return undefined;
    });
    if (outcome !== undefined) return outcome;
    if (clock.monotonic() - complainedMs > complaintMs) {
      complainedMs = clock.monotonic();
      logger.error(what, { failures });
    }
    await clock.sleep(joinPollMs, signal);
  }
}

/** What the machine's etcd is started with. Resolves only when it can be a member; why that takes time is said. */
export async function membershipOf(config: ControlPlaneConfig, deps: Deps): Promise<Membership> {
  const files = filesOf(config);
  const cluster = config.members.map(({ name, address }): [string, string] => [name, peerUrl(address)]);
  if (existsSync(join(files.etcdData, 'member'))) return { fresh: false, cluster };
  if (!existsSync(files.etcdJoined)) return { fresh: true, cluster };
  const others = await otherMembers(config);
  if (others.length === 0)
    throw new Error(
      `the data of etcd in ${files.etcdData} is gone, and no other member has it: restore it from a snapshot (etcdctl snapshot restore)`,
    );
  deps.logger.warn('this etcd member has no data: it joins the others as a new one', { directory: files.etcdData });
  return persist('this machine cannot join etcd yet: the other members do not agree on it', deps, () =>
    replaceBy(others, config, deps.clock),
  );
}

/** Resolves when the member that runs on this machine has a vote. */
export async function untilVoting(config: ControlPlaneConfig, deps: Deps): Promise<void> {
  await persist('the etcd of this machine has no vote yet', deps, async () =>
    (await promoteOwn(config, deps.clock)) ? true : undefined,
  );
}

/** Notes that the machine's data is part of etcd's from now on: a disk without it has lost it. */
export const noteJoined = ({ directory }: Pick<ControlPlaneConfig, 'directory'>): Promise<void> =>
  ownFolder(directory).write(filesOf({ directory }).etcdJoined, '', 0o600);

/** What is done beside the etcd of this machine while it runs: it serves its clients once it has a leader. Rejects when `signal` says that it is over. */
export async function whileMember(config: ControlPlaneConfig, deps: Deps): Promise<never> {
  const { clock, signal } = deps;
  while (!(await accepts({ host: '127.0.0.1', port: etcdPorts.client }))) await clock.sleep(acceptPollMs, signal);
  signal.throwIfAborted();
  await noteJoined(config);
  await untilVoting(config, deps);
  for (;;) {
    await noteMembers(config, clock).catch(() => {});
    await clock.sleep(membersLookMs, signal);
  }
}
