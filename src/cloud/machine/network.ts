// Applies plans to the machine's network namespaces. What was applied is remembered; after a failure, and at first, it is read from the machine.
import { namesIfExists } from '#host';
import type { Exec } from '#utils';
import { netnsPrefix } from '../model/index.ts';
import { networkTimeoutMs } from './limits.ts';
import {
  type Change,
  changes,
  emptyState,
  isEmpty,
  leftoverLinks,
  type MachinePlan,
  type NamespaceState,
  observeCommand,
  parseState,
  without,
} from './plan/index.ts';

/** Names of the network namespaces that carry the cloud's mark. */
export const networkNamespaces = async (mark: string): Promise<string[]> =>
  (await namesIfExists('/run/netns')).filter((name) => name.startsWith(netnsPrefix(mark)));

/** A command with its input; `then` follows it. */
const here = (command: string, lines: readonly string[], then = ''): string =>
  `${command} <<'END-OF-INPUT' ${then}\n${lines.join('\n')}\nEND-OF-INPUT\n`;
const setting = ([path, value]: readonly [string, string]): string =>
  `[ ! -e /proc/sys/net/${path} ] || echo ${value} > /proc/sys/net/${path}`;
/** Says where a step of a script failed. */
const step = (netns: string, text: string): string => `at='${netns}'\n${text}`;
const scriptStart = `set -e\ntrap '[ $? = 0 ] || echo "in $at" >&2' EXIT\n`;

/** Rules come before links, so that no packet passes without them. */
function changeScript(netns: string, { sysctls, rules, ip, linkSysctls }: Change): string {
  if (sysctls.length + linkSysctls.length + rules.length === 0) return step(netns, here(`ip -n ${netns} -batch -`, ip));
  const lines = [
    'set -e',
    ...sysctls.map(setting),
    ...(rules === '' ? [] : [`iptables-restore -w 5 --noflush <<'END-OF-RULES'\n${rules}END-OF-RULES`]),
    ...(ip.length === 0 ? [] : [`ip -batch - <<'END-OF-LINES'\n${ip.join('\n')}\nEND-OF-LINES`]),
    ...linkSysctls.map(setting),
  ];
  return step(netns, here(`nsenter --net=/run/netns/${netns} sh -s`, lines));
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

/** Deletes links, and takes note that both of their ends are gone. */
function deletions(doomed: ReadonlyMap<string, readonly string[]>, states: Map<string, NamespaceState>): string[] {
  return [...doomed].map(([name, links]) => {
    const state = states.get(name) ?? emptyState;
    states.set(name, without(state, new Set(links)));
    for (const link of links) {
      const peer = state.links.get(link);
      const other = peer && states.get(peer.netns);
      if (peer && other) states.set(peer.netns, without(other, new Set([peer.link])));
    }
    // One that vanishes by itself meanwhile is fine, too.
    const lines = links.map((link) => `link del ${link}`);
    return step(name, here(`ip -n ${name} -force -batch -`, lines, '2>/dev/null || true'));
  });
}

const boundary = '##### namespace';

export class Network {
  readonly #mark: string;
  readonly #dir: string;
  readonly #exec: Exec;
  /** What is known of each namespace; undefined where it has to be read. */
  #states: Map<string, NamespaceState> | undefined;

  constructor(mark: string, dir: string, exec: Exec) {
    this.#mark = mark;
    this.#dir = dir;
    this.#exec = exec;
  }

  /** Makes the machine be as planned. Namespaces in `anew` are made afresh. Rejects half done; the next call goes on from what is there. */
  async apply(plan: MachinePlan, anew: ReadonlySet<string>): Promise<void> {
    const states = this.#states ?? (await this.#observe(plan));
    this.#states = undefined;
    const there = new Set(await networkNamespaces(this.#mark));
    const gone = new Set([...there].filter((name) => !plan.has(name) || anew.has(name)));
    const missing = [...plan.keys()].filter((name) => gone.has(name) || !there.has(name));
    const lost = new Set([...gone, ...missing]);
    const script = deletions(doomedLinks(plan, states, there, lost), states);
    for (const name of states.keys()) if (lost.has(name) || !there.has(name)) states.delete(name);
    const namespaces = [...[...gone].map((name) => `netns del ${name}`), ...missing.map((name) => `netns add ${name}`)];
    if (namespaces.length > 0) script.push(step('the machine', here('ip -batch -', namespaces)));
    for (const [name, want] of [...plan].sort(([, a], [, b]) => a.order - b.order)) {
      const change = changes(states.get(name) ?? emptyState, want);
      if (!isEmpty(change)) script.push(changeScript(name, change));
      states.set(name, want);
    }
    if (script.length > 0) await this.#run([scriptStart, ...script].join(''));
    this.#states = states;
  }

  async #observe(plan: MachinePlan): Promise<Map<string, NamespaceState>> {
    const names = await networkNamespaces(this.#mark);
    const output = await this.#run(
      names.map((name) => here(`echo '${boundary}'; nsenter --net=/run/netns/${name} sh -s`, [observeCommand])).join(''),
    );
    const parts = output.split(`${boundary}\n`).slice(1);
    // Those of a namespace that is not planned go with it.
    const makesLinks = (name: string): boolean => (plan.get(name)?.order ?? 2) < 2;
    return new Map(names.map((name, i) => [name, parseState(parts[i] ?? '', makesLinks(name))]));
  }
  /** All steps in one shell: starting programs from there costs a fraction of starting them from here. */
  async #run(script: string): Promise<string> {
    const { code, stdout, stderr } = await this.#exec('sh', ['-s', this.#dir], { input: script, timeoutMs: networkTimeoutMs });
    if (code !== 0) throw new Error(`the networks cannot be made: ${stderr.trim() || `exit code ${code}`}`);
    return stdout;
  }
}
