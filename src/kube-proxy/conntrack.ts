// Makes the kernel forget UDP flows that would go on to an endpoint that is gone, or to nowhere (conntrack(8)).
import type { Exec, Logger } from '#utils';
import { applyTimeoutMs } from './limits.ts';
import type { StaleFlows } from './tracker.ts';

/** Arguments of the conntrack calls that clear `flows`. Pure. */
export function conntrackCommands({ clusterIp, externalIps, nodePort, endpoint }: StaleFlows): string[][] {
  const to = endpoint ? ['--dst-nat', endpoint.ip, '--reply-port-src', String(endpoint.port)] : [];
  return [
    ...[clusterIp, ...externalIps].map((address) => ['-D', '-p', 'udp', '--orig-dst', address, ...to]),
    ...(nodePort > 0 ? [['-D', '-p', 'udp', '--dport', String(nodePort), ...to]] : []),
  ];
}

export async function clearFlows(exec: Exec, flows: readonly StaleFlows[], logger: Logger): Promise<void> {
  for (const args of flows.flatMap(conntrackCommands)) {
    try {
      const result = await exec('conntrack', args, { timeoutMs: applyTimeoutMs });
      if (result.code !== 0 && !result.stderr.includes('0 flow entries'))
        logger.warn('conntrack entries not deleted', { error: result.stderr.trim() });
    } catch (error) {
      logger.warn('conntrack cannot be run; stale UDP flows may live on', { error: String(error) });
      return;
    }
  }
}
