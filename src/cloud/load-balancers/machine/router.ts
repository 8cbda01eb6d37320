// Addresses, routes and packet rules of load balancers in one router, level by level: what the kernel has is looked at, what differs is changed.
import type { Exec } from '#utils';
import { NotYetError } from '../../model/index.ts';
import { netnsId } from '../netns.ts';
import type { BalancerPlan, Place, VpcPlan } from '../plan.ts';
import { forget, inNetns, ipBatch, restore } from './commands.ts';
import { type Flows, flowsOf, flowsOfIndex, staleFlows, unknownFlows } from './conntrack.ts';
import { foundRules, type KnownRules, knownRules, noRules, restoreText } from './restore.ts';
import { addressLines, allocate, observeRouter, parseRouter, type RouterState, routeLines, wantedInRouter } from './routes.ts';
import { routerRules } from './rules.ts';

/**
 * Settings of the namespace: answers of the router itself follow their question's mark; packets of targets that have a load balancer's
 * address as their source, which is the router's as well, are no forgeries.
 */
const sysctls = ['tcp_fwmark_accept', 'fwmark_reflect', 'conf/all/accept_local'];

export interface Router {
  /**
   * Brings the router in line. `look`: the kernel's state is read first; without, only rules follow a change of health.
   * Gives what was found or is known of the router.
   */
  apply(plan: VpcPlan, healthy: (balancer: BalancerPlan) => readonly Place[], look: boolean): Promise<RouterState>;
}

interface Known {
  id: number;
  state: RouterState;
  indexes: ReadonlyMap<string, number>;
  rules: KnownRules;
  /** The connections of each load balancer; undefined where nothing is known of them. */
  flows: ReadonlyMap<string, Flows> | undefined;
}

const lookAt = async (exec: Exec, netns: string): Promise<RouterState> => parseRouter(await inNetns(exec, netns, observeRouter));

async function firstLook(exec: Exec, netns: string, id: number): Promise<Known> {
  const [state, saved] = await Promise.all([lookAt(exec, netns), inNetns(exec, netns, 'iptables-save')]);
  return { id, state, indexes: new Map(), rules: foundRules(saved), flows: undefined };
}

function staleCalls(before: Known, flows: ReadonlyMap<string, Flows>, freed: readonly number[]): string[] {
  const known = before.flows;
  const ids = new Set([...(known?.keys() ?? []), ...flows.keys()]);
  const stale = known
    ? [...ids].flatMap((id) => staleFlows(known.get(id), flows.get(id)))
    : [...flows.values()].filter(({ address }) => before.state.addresses.has(address)).flatMap(unknownFlows);
  return [...freed.map(flowsOfIndex), ...stale];
}

/** Numbers of links that went with their routes, or got another one since. */
const moved = (before: ReadonlyMap<string, number>, now: ReadonlyMap<string, number>, freed: readonly number[]): number[] =>
  [...before].flatMap(([link, index]) => (now.get(link) === index || freed.includes(index) ? [] : [index]));

export function createRouter(exec: Exec, netns: string): Router {
  let known: Known | undefined;
  return {
    async apply(plan, healthy, look) {
      const id = netnsId(netns);
      if (id === undefined) throw new NotYetError(`the router of ${plan.vpcId} is not there yet (network namespace ${netns})`);
      let before = known?.id === id ? known : undefined;
      // When a step fails, what the router contains is not known any more, and it is looked at anew.
      known = undefined;
      if (!before) {
        await inNetns(exec, netns, sysctls.map((name) => `echo 1 > /proc/sys/net/ipv4/${name}`).join('\n'));
        before = await firstLook(exec, netns, id);
      } else if (look) before = { ...before, state: await lookAt(exec, netns) };
      const { indexes, freed } = allocate(before.state, plan);
      const wanted = wantedInRouter(plan, before.state, indexes);
      const rules = routerRules(plan, { indexes, healthy });
      const flows = new Map(
        plan.balancers.map((balancer) => [
          balancer.id,
          flowsOf(
            balancer,
            healthy(balancer).map(({ link }) => indexes.get(link) ?? 0),
          ),
        ]),
      );
      // An address comes last: its first packet is to find all the rest.
      await ipBatch(exec, netns, routeLines(before.state, wanted));
      await restore(exec, netns, restoreText(before.rules, rules));
      await ipBatch(exec, netns, addressLines(before.state, wanted));
      await forget(exec, netns, staleCalls(before, flows, [...freed, ...moved(before.indexes, indexes, freed)]));
      known = { id, state: { ...before.state, ...wanted, localFirst: false }, indexes, rules: knownRules(rules), flows };
      return known.state;
    },
  };
}

/** Takes everything of load balancers out of a router. Nothing to do: no harm. */
export async function clearRouter(exec: Exec, netns: string): Promise<void> {
  if (netnsId(netns) === undefined) return;
  const { state, rules } = await firstLook(exec, netns, 0);
  await ipBatch(exec, netns, addressLines(state));
  await restore(exec, netns, restoreText(rules, noRules));
  await ipBatch(exec, netns, routeLines(state, undefined));
}
