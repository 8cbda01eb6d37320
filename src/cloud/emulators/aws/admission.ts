// Who may use a load balancer: security groups say it for each port, the local cloud for a load balancer as a whole. So each listener that nobody
// may reach is left out, and a range counts when all the others let it in. Pure.
import type { Listener, SecurityGroupRule } from '../../model/index.ts';
import { rangeOf } from '../../core/cidr.ts';

const covers = ({ protocol, fromPort, toPort = fromPort }: SecurityGroupRule, wanted: string, port: number): boolean =>
  protocol === 'all' || (protocol === wanted && (fromPort === undefined || (fromPort <= port && port <= (toPort ?? fromPort))));

/** Ranges from which traffic of a protocol comes in at a port. */
export const admitted = (rules: readonly SecurityGroupRule[], protocol: string, port: number): string[] => [
  ...new Set(rules.flatMap((rule) => (rule.cidr !== undefined && covers(rule, protocol, port) ? [rule.cidr] : []))),
];

const contains = (outer: string, inner: string): boolean => {
  const [a, b] = [rangeOf(outer), rangeOf(inner)];
  return a.first <= b.first && b.last <= a.last;
};

/** The listeners that anybody may use, and the ranges that may use all of them. `rangesOf` gives who may use one. */
export function restrict(
  listeners: readonly Listener[],
  rangesOf: (listener: Listener) => readonly string[],
): { listeners: Listener[]; sourceRanges: string[] } {
  const open = listeners.map((listener) => ({ listener, ranges: rangesOf(listener) })).filter(({ ranges }) => ranges.length > 0);
  const all = [...new Set(open.flatMap(({ ranges }) => ranges))];
  const sourceRanges = all.filter((range) => open.every(({ ranges }) => ranges.some((outer) => contains(outer, range))));
  return { listeners: open.map(({ listener }) => listener), sourceRanges };
}
