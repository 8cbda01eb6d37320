// What a control-plane machine asks the members of etcd, with the certificates on its disk: who they are, to be one of them, and to be one no more.
import { readFile } from 'node:fs/promises';
import { atomicWrite, readFileIfExists } from '#host';
import { connectEtcdMembers, type EtcdMember, type EtcdMembers } from '#store';
import type { Clock } from '#utils';
import { peerUrl } from './commands.ts';
import { type ControlPlaneConfig, controlPlaneFiles, type ControlPlaneMember } from './config.ts';
import { removalPatienceMs, removalPollMs } from './limits.ts';
import { etcdPorts } from './names.ts';

const loopback = '127.0.0.1';

export const isAt =
  (address: string) =>
  ({ peerUrls }: EtcdMember): boolean =>
    peerUrls.includes(peerUrl(address));

/** Does `work` through the member of etcd at `address`. */
export async function throughMember<T>(
  { directory }: Pick<ControlPlaneConfig, 'directory'>,
  address: string,
  clock: Clock,
  work: (members: EtcdMembers) => Promise<T>,
): Promise<T> {
  const { etcdCa, etcdPeer } = controlPlaneFiles(directory);
  const [ca = '', cert = '', key = ''] = await Promise.all(
    [etcdCa, etcdPeer.cert, etcdPeer.key].map((path) => readFile(path, 'utf8')),
  );
  const members = await connectEtcdMembers(`${address}:${etcdPorts.client}`, { ca, cert, key }, clock);
  try {
    return await work(members);
  } finally {
    members.close();
  }
}

/** Tries `work` through one member after the other. Rejects with what each of them said. */
export async function throughAny<T>(
  config: Pick<ControlPlaneConfig, 'directory'>,
  addresses: readonly string[],
  clock: Clock,
  work: (members: EtcdMembers) => Promise<T>,
): Promise<T> {
  const failures: string[] = [];
  for (const address of addresses)
    try {
      return await throughMember(config, address, clock, work);
    } catch (error) {
      failures.push(`${address}: ${(error as Error).message}`);
    }
  throw new Error(failures.join('; '));
}

/** Where the other members are: those of the configuration, and those that were there when this machine last looked. */
export async function otherMembers({ address, members, directory }: ControlPlaneConfig): Promise<string[]> {
  const noted = (await readFileIfExists(controlPlaneFiles(directory).etcdMembers))?.toString('utf8') ?? '[]';
  const all = new Set([...(JSON.parse(noted) as string[]), ...members.map((member) => member.address)]);
  return [...all].filter((one) => one !== address);
}

const hostOf = (url: string): string => new URL(url).hostname;

/** Keeps who the members are for a day on which this machine has lost its data, or leaves. */
export async function noteMembers(config: ControlPlaneConfig, clock: Clock): Promise<void> {
  const all = await throughMember(config, loopback, clock, (members) => members.list());
  const addresses = all.flatMap(({ peerUrls }) => peerUrls.map(hostOf));
  await atomicWrite(controlPlaneFiles(config.directory).etcdMembers, JSON.stringify(addresses), { mode: 0o600 });
}

/** All of them as the member of this machine sees them; without a name: it has not run yet. */
export async function membersOf(config: ControlPlaneConfig, clock: Clock): Promise<ControlPlaneMember[]> {
  const all = await throughMember(config, loopback, clock, (members) => members.list());
  return all.map(({ name, peerUrls: [url = ''] }) => ({ name, address: hostOf(url) }));
}

/** Gives the machine's member its vote. Whether it has one now. */
export async function promoteOwn(config: ControlPlaneConfig, clock: Clock): Promise<boolean> {
  const others = await otherMembers(config);
  if (others.length === 0) return true;
  return throughAny(config, others, clock, async (members) => {
    const own = (await members.list()).find(isAt(config.address));
    if (own?.isLearner) await members.promote(own.id);
    return own !== undefined;
  });
}

/** Etcd says so while one of the members that would stay has not been back for five seconds. */
const isUnsettled = (error: unknown): boolean => /unhealthy cluster/.test((error as Error).message);

/** Takes the member at `gone` out, where it is one and not the only one. Waits for members that came back a moment ago. */
export async function removeMember(config: ControlPlaneConfig, gone: string, clock: Clock): Promise<void> {
  const others = (await otherMembers(config)).filter((address) => address !== gone);
  const asked = gone === config.address ? others : [loopback, ...others];
  if (asked.length === 0) return;
  const end = clock.monotonic() + removalPatienceMs;
  const remove = (): Promise<void> =>
    throughAny(config, asked, clock, async (members) => {
      for (const { id } of (await members.list()).filter(isAt(gone))) await members.remove(id);
    });
  for (;;)
    try {
      return await remove();
    } catch (error) {
      if (!isUnsettled(error) || clock.monotonic() > end) throw error;
      await clock.sleep(removalPollMs);
    }
}
