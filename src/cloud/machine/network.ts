// Applies plans to the machine's network namespaces. What was applied is remembered; after a failure, and at first, it is read from the machine.
import { readdir } from 'node:fs/promises';
import { isErrno } from '#host';
import type { Exec } from '#utils';
import { netnsPrefix } from '../model/index.ts';
import { inNetns, inParallel, must } from './commands.ts';
import { networkJobsMax } from './limits.ts';
import {
  type Change,
  changes,
  emptyState,
  isEmpty,
  leftoverLinks,
  type MachinePlan,
  type NamespacePlan,
  type NamespaceState,
  observeCommand,
  parseState,
  without,
} from './plan/index.ts';

/** Names of the network namespaces that carry the cloud's mark. */
export async function networkNamespaces(mark: string): Promise<string[]> {
  try {
    return (await readdir('/run/netns')).filter((name) => name.startsWith(netnsPrefix(mark)));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  }
}

const heredoc = (command: string, text: string): string => `${command} <<'END-OF-INPUT'\n${text}END-OF-INPUT\n`;
const setting = ([path, value]: readonly [string, string]): string =>
  `[ ! -e /proc/sys/net/${path} ] || echo ${value} > /proc/sys/net/${path}\n`;

/** Rules come before links, so that no packet passes without them. */
function scriptFor({ sysctls, rules, ip, linkSysctls }: Change): string {
  return [
    'set -e\n',
    ...sysctls.map(setting),
    ...(rules === '' ? [] : [heredoc('iptables-restore -w 5 --noflush', rules)]),
    ...(ip.length === 0 ? [] : [heredoc('ip -batch -', `${ip.join('\n')}\n`)]),
    ...linkSysctls.map(setting),
  ].join('');
}

/** Links to delete, by namespace: leftovers, and what hangs on namespaces that somebody else has removed, if the kernel has not done so yet. */
function doomedLinks(
  plan: MachinePlan,
  states: ReadonlyMap<string, NamespaceState>,
  there: ReadonlySet<string>,
  lost: ReadonlySet<string>,
): Map<string, string[]> {
  const doomed = new Map<string, string[]>();
  const add = (name: string, links: readonly string[]): void => {
    if (links.length > 0 && there.has(name)) doomed.set(name, [...(doomed.get(name) ?? []), ...links]);
  };
  for (const [name, state] of states) {
    if (there.has(name)) add(name, leftoverLinks(state, plan.get(name), lost));
    else for (const peer of state.links.values()) if (peer) add(peer.netns, [peer.link]);
  }
  return doomed;
}

export class Network {
  readonly #mark: string;
  readonly #dir: string;
  readonly #exec: Exec;
  /** By namespace; undefined: not known, to be read. */
  #states: Map<string, NamespaceState> | undefined;

  constructor(mark: string, dir: string, exec: Exec) {
    this.#mark = mark;
    this.#dir = dir;
    this.#exec = exec;
  }

  /** Makes the machine be as planned. Namespaces in `anew` are made afresh. Rejects half done; the next call goes on from what is there. */
  async apply(plan: MachinePlan, anew: ReadonlySet<string>): Promise<void> {
    const states = this.#states ?? (await this.#observe());
    this.#states = undefined;
    const there = new Set(await networkNamespaces(this.#mark));
    const gone = new Set([...there].filter((name) => !plan.has(name) || anew.has(name)));
    const missing = [...plan.keys()].filter((name) => gone.has(name) || !there.has(name));
    const lost = new Set([...gone, ...missing]);
    await this.#deleteLinks(doomedLinks(plan, states, there, lost), states);
    for (const name of states.keys()) if (lost.has(name) || !there.has(name)) states.delete(name);
    const lines = [...[...gone].map((name) => `netns del ${name}`), ...missing.map((name) => `netns add ${name}`)];
    if (lines.length > 0) await must(this.#exec, 'ip', ['-batch', '-'], `${lines.join('\n')}\n`);
    for (const order of [0, 1, 2])
      await inParallel(plan, networkJobsMax, async ([name, want]) => {
        if (want.order === order) await this.#change(name, want, states);
      });
    this.#states = states;
  }

  async #observe(): Promise<Map<string, NamespaceState>> {
    const states = new Map<string, NamespaceState>();
    await inParallel(await networkNamespaces(this.#mark), networkJobsMax, async (name) => {
      states.set(name, parseState(await inNetns(this.#exec, name, observeCommand, this.#dir)));
    });
    return states;
  }
  async #deleteLinks(doomed: ReadonlyMap<string, readonly string[]>, states: Map<string, NamespaceState>): Promise<void> {
    await inParallel(doomed, networkJobsMax, async ([name, links]) => {
      // One that vanishes by itself meanwhile is fine, too.
      const lines = links.map((link) => `link del ${link}\n`).join('');
      await inNetns(this.#exec, name, `${heredoc('ip -force -batch - 2>/dev/null', lines)}true\n`, this.#dir);
      const state = states.get(name) ?? emptyState;
      states.set(name, without(state, new Set(links)));
      for (const link of links) {
        const peer = state.links.get(link);
        const other = peer && states.get(peer.netns);
        if (peer && other) states.set(peer.netns, without(other, new Set([peer.link])));
      }
    });
  }
  async #change(name: string, want: NamespacePlan, states: Map<string, NamespaceState>): Promise<void> {
    const change = changes(states.get(name) ?? emptyState, want);
    if (!isEmpty(change)) await inNetns(this.#exec, name, scriptFor(change), this.#dir);
    states.set(name, want);
  }
}
