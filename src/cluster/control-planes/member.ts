// How the etcd of a control-plane machine comes to be a member: with the others at the very first start, and later, when its disk has been lost, in
// place of the member that it was (https://etcd.io/docs/v3.6/op-guide/runtime-configuration/).
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectEtcdMembers, type EtcdMember } from '#store';
import type { Clock, Logger } from '#utils';
import { peerUrl } from './commands.ts';
import { type ControlPlaneConfig, controlPlaneFiles } from './config.ts';
import { complaintMs, joinPollMs } from './limits.ts';
import { etcdPorts } from './names.ts';

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
async function replaceBy(through: string, config: ControlPlaneConfig, clock: Clock): Promise<Membership> {
  const files = controlPlaneFiles(config.directory);
  const [ca, cert, key] = await Promise.all(
    [files.etcdCa, files.etcdPeer.cert, files.etcdPeer.key].map((path) => readFile(path, 'utf8')),
  );
  const members = await connectEtcdMembers(
    `${through}:${etcdPorts.client}`,
    { ca: ca ?? '', cert: cert ?? '', key: key ?? '' },
    clock,
  );
  try {
    const own = peerUrl(config.address);
    const isOwn = ({ peerUrls }: EtcdMember): boolean => peerUrls.includes(own);
    for (const { id } of (await members.list()).filter(isOwn)) await members.remove(id);
    const all = await members.add(own);
    const nameOf = (member: EtcdMember): string => (isOwn(member) ? config.name : member.name);
    return { fresh: false, cluster: all.flatMap((one) => one.peerUrls.map((url): [string, string] => [nameOf(one), url])) };
  } finally {
    members.close();
  }
}

/** What the machine's etcd is started with. Resolves only when it can be a member; why that takes time is said. */
export async function membershipOf(config: ControlPlaneConfig, { clock, logger, signal }: Deps): Promise<Membership> {
  const files = controlPlaneFiles(config.directory);
  const cluster = config.members.map(({ name, address }): [string, string] => [name, peerUrl(address)]);
  if (existsSync(join(files.etcdData, 'member'))) return { fresh: false, cluster };
  if (!existsSync(files.etcdJoined)) return { fresh: true, cluster };
  const others = config.members.filter(({ name }) => name !== config.name);
  if (others.length === 0)
    throw new Error(
      `the data of etcd in ${files.etcdData} is gone, and no other member has it: restore it from a snapshot (etcdctl snapshot restore)`,
    );
  logger.warn('the data of this etcd member is gone: it joins the others as a new one', { directory: files.etcdData });
  let complainedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const failures: string[] = [];
    for (const { address } of others)
      try {
        return await replaceBy(address, config, clock);
      } catch (error) {
        failures.push(`${address}: ${(error as Error).message}`);
      }
    if (clock.monotonic() - complainedMs > complaintMs) {
      complainedMs = clock.monotonic();
      logger.error('this machine cannot join etcd yet: the other members do not agree on it', { failures: failures.join('; ') });
    }
    await clock.sleep(joinPollMs, signal);
  }
}

/** From now on the machine's data is worth something: a disk without it has lost it. */
export const noteJoined = (config: ControlPlaneConfig): Promise<void> =>
  writeFile(controlPlaneFiles(config.directory).etcdJoined, '', { mode: 0o600 });
