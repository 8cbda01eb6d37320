// Packet rules of a router (iptables-extensions(8)): who may use a load balancer, and which target a connection gets. A target is chosen for the
// first packet of a connection and kept on it as connection mark; the packet's own mark, taken from there, selects the routing table
// with the target. So connections stay where they are whatever targets come and go, which hashing over next hops (multipath routes)
// does not give, and affinity is a matter of the choice alone. Pure.
import { routerToEdge } from '../../model/index.ts';
import {
  affinityList,
  answerMark,
  anyTarget,
  backToEdge,
  chains,
  fromEdge,
  fromEdgeBit,
  hairpinMark,
  targetMark,
  targetMask,
} from '../names.ts';
import { type BalancerPlan, type Place, routedListeners, type VpcPlan } from '../plan.ts';

/** Rules by their chain, without `-A <chain>`. */
export type Chains = ReadonlyMap<string, readonly string[]>;
export interface Rules {
  mangle: Chains;
  nat: Chains;
}

/** The rules of built-in chains that lead to ours. */
export const hooks = {
  mangle: [`PREROUTING -j ${chains.main}`, `FORWARD -j ${chains.forward}`],
  nat: [`PREROUTING -j ${chains.main}`, `POSTROUTING -j ${chains.source}`],
} as const;

export interface Choice {
  /** Numbers of links. */
  indexes: ReadonlyMap<string, number>;
  /** Targets that are sent connections. */
  healthy(balancer: BalancerPlan): readonly Place[];
}

const indexOf = ({ indexes }: Choice, { link }: Place): number => indexes.get(link) ?? 0;

/** One of `count` is taken with equal chance when the rules are passed in order. */
const chance = (position: number, count: number): string =>
  position === count - 1 ? '' : `-m statistic --mode random --probability ${(1 / (count - position)).toFixed(10)} `;

function pickChains(balancer: BalancerPlan, choice: Choice): [string, string[]][] {
  const { id, affinityTimeoutSeconds: seconds } = balancer;
  const targets = choice.healthy(balancer).map((place) => indexOf(choice, place));
  if (seconds === undefined)
    return [[chains.pick(id), targets.map((index, i) => `${chance(i, targets.length)}-g ${chains.target(index)}`)]];
  const known = targets.map(
    (index) =>
      `-m recent --rcheck --seconds ${seconds} --reap --name ${affinityList(id, index)} --rsource -g ${chains.stick(id, index)}`,
  );
  return [
    [chains.pick(id), [...known, ...targets.map((index, i) => `${chance(i, targets.length)}-g ${chains.stick(id, index)}`)]],
    ...targets.map((index): [string, string[]] => [
      chains.stick(id, index),
      [`-m recent --set --name ${affinityList(id, index)} --rsource`, `-g ${chains.target(index)}`],
    ]),
  ];
}

function balancerChains(balancer: BalancerPlan, choice: Choice): [string, string[]][] {
  const { id, sourceRanges } = balancer;
  const routed = routedListeners(balancer);
  return [
    [chains.balancer(id), [...sourceRanges.map((range) => `-s ${range} -g ${chains.listeners(id)}`), '-j DROP']],
    [
      chains.listeners(id),
      [
        ...routed.map(
          ({ protocol, port }) => `-p ${protocol} --dport ${port} -m connmark ! --mark ${anyTarget} -j ${chains.pick(id)}`,
        ),
        ...(routed.length > 0
          ? [`-m connmark --mark ${anyTarget} -j CONNMARK --restore-mark --nfmask ${targetMask} --ctmask ${targetMask}`]
          : []),
        `-m mark --mark 0 -j ${chains.arrival}`,
      ],
    ],
    ...(routed.length > 0 ? pickChains(balancer, choice) : []),
  ];
}

function targetChain(index: number): [string, string[]] {
  return [
    chains.target(index),
    [
      `-j CONNMARK --set-xmark ${targetMark(index)}/${targetMask}`,
      `-i ${routerToEdge} -j CONNMARK --set-xmark ${fromEdgeBit}/${fromEdgeBit}`,
    ],
  ];
}

function mangle({ balancers, places }: VpcPlan, choice: Choice): Chains {
  return new Map([
    [
      chains.main,
      [
        `-m conntrack --ctdir REPLY -m connmark --mark ${fromEdge} -j MARK --set-mark ${backToEdge}`,
        '-m conntrack --ctdir REPLY -j RETURN',
        '-m addrtype ! --dst-type LOCAL -j RETURN',
        ...balancers.map(({ id, address }) => `-d ${address}/32 -g ${chains.balancer(id)}`),
      ],
    ],
    [
      chains.arrival,
      [
        `-i ${routerToEdge} -j MARK --set-mark ${answerMark(0)}`,
        ...places.map((place) => `-i ${place.link} -j MARK --set-mark ${answerMark(indexOf(choice, place))}`),
      ],
    ],
    [
      chains.forward,
      places.map(({ link }) => `-i ${link} -o ${link} -m connmark --mark ${anyTarget} -j MARK --set-mark ${hairpinMark}`),
    ],
    ...places.map((place) => targetChain(indexOf(choice, place))),
    ...balancers.flatMap((balancer) => balancerChains(balancer, choice)),
  ]);
}

/** UDP of `proxy` load balancers is rewritten to what was chosen; a target that is its own client must not see itself as the source. */
function nat({ balancers }: VpcPlan, choice: Choice): Chains {
  const rewritten = balancers.filter(
    ({ kind, listeners }) => kind === 'proxy' && listeners.some((one) => one.protocol === 'udp'),
  );
  return new Map([
    [chains.main, rewritten.map(({ id, address }) => `-d ${address}/32 -p udp -g ${chains.balancer(id)}`)],
    [chains.source, [`-m mark --mark ${hairpinMark} -j MASQUERADE`]],
    ...rewritten.map((balancer): [string, string[]] => [
      chains.balancer(balancer.id),
      routedListeners(balancer).flatMap(({ port, targetPort = port }) =>
        choice
          .healthy(balancer)
          .map(
            (place) =>
              `-p udp --dport ${port} -m mark --mark ${targetMark(indexOf(choice, place))} -j DNAT --to-destination ${place.address}:${targetPort}`,
          ),
      ),
    ]),
  ]);
}

export const routerRules = (plan: VpcPlan, choice: Choice): Rules => ({
  mangle: mangle(plan, choice),
  nat: nat(plan, choice),
});
