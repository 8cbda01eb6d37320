// Clocks of machines that differ. Pure.
import { clocksApartMsMax } from './limits.ts';

/** What a certificate says that is good at another time than this machine has. */
export const certificateClockProblem = (code: string, endpoint: string, nowMs: number): string =>
  `by the clock of this machine (${new Date(nowMs).toISOString()}) the certificate of ${endpoint} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}: set the clock right, or the cluster's`;

/**
 * Why a machine cannot be a control plane beside others whose time was `theirsMs`, to the second, at some moment between two looks at its own clock; undefined:
 * it can.
 */
export function clocksProblem(beforeMs: number, theirsMs: number, afterMs: number): string | undefined {
  const [ahead, behind] = [beforeMs - (theirsMs + 1_000), theirsMs - afterMs];
  const apartMs = Math.max(ahead, behind);
  if (apartMs <= clocksApartMsMax) return undefined;
  const how = `${Math.round(apartMs / 1_000)} s ${ahead > behind ? 'ahead of' : 'behind'}`;
  return `the clock of this machine is ${how} the cluster's, and those of control planes may differ by ${clocksApartMsMax / 1_000} s: set it right`;
}
