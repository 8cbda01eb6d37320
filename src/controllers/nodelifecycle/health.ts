// Whether a node still gives signs of life (pkg/controller/nodelifecycle, tryUpdateNodeHealth). Times are those at which this process saw a
// sign, on a clock that never jumps, not those written in it: clocks of nodes may be wrong, and this machine's may be set. Pure.
import type { Lease } from '#api/coordination/v1';
import type { Node, NodeCondition } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import type { ControllersConfig } from '../config.ts';
import { readyCondition } from './taints.ts';

export type HealthConfig = Pick<ControllersConfig, 'nodeMonitorGracePeriodMs' | 'nodeStartupGracePeriodMs'>;

/** One moment by the time of day, for what is written, and by the clock that never jumps, for lengths of time. */
export interface Moment {
  now: number;
  monotonicMs: number;
}

/** What was seen of a node. */
export interface Sighting {
  uid: string;
  /** When the last sign of life was seen, on the clock that never jumps. */
  seenAtMs: number;
  /** The kubelet's last status post, as written in the Ready condition; undefined: it never posted. */
  heartbeat: string | undefined;
  renewTime: string | undefined;
}

/** Silent kubelets are not asked about networks: that condition is the control plane's. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Takes note of signs of life since the last look. */
export function sight(node: Node, lease: Lease | undefined, known: Sighting | undefined, { now, monotonicMs }: Moment): Sighting {
  const ready = readyCondition(node);
  const heartbeat = ready ? (ready.lastHeartbeatTime ?? '') : undefined;
  const renewTime = lease?.spec?.renewTime ?? undefined;
  const uid = node.metadata.uid ?? '';
  const seen = { uid, heartbeat, renewTime };
  if (known?.uid !== uid) {
    const ageMs = Math.max(0, now - Date.parse(node.metadata.creationTimestamp ?? ''));
    const isSilent = heartbeat === undefined && renewTime === undefined && !Number.isNaN(ageMs);
    return { ...seen, seenAtMs: isSilent ? monotonicMs - ageMs : monotonicMs };
  }
  const renewed = renewTime !== undefined && (known.renewTime === undefined || known.renewTime < renewTime);
  return { ...seen, seenAtMs: renewed || heartbeat !== known.heartbeat ? monotonicMs : known.seenAtMs };
}

/** The conditions of a node that has been silent too long; undefined while it has not, or when its Ready condition says so already. */
export function silentConditions(
  node: Node,
  { seenAtMs }: Sighting,
  config: HealthConfig,
  { now, monotonicMs }: Moment,
): NodeCondition[] | undefined {
  const ready = readyCondition(node);
  const graceMs = ready ? config.nodeMonitorGracePeriodMs : config.nodeStartupGracePeriodMs;
  if (monotonicMs <= seenAtMs + graceMs || ready?.status === 'Unknown') return undefined;
  const lastTransitionTime = formatTime(now);
  const old = node.status?.conditions ?? [];
  const changed = old.map((condition) =>
    kubeletConditions.includes(condition.type) && condition.status !== 'Unknown'
      ? {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime,
        }
      : condition,
  );
  const missing = kubeletConditions.filter((type) => !old.some((condition) => condition.type === type));
  const never = missing.map((type) => ({
    type,
    status: 'Unknown',
    lastHeartbeatTime: node.metadata.creationTimestamp,
    lastTransitionTime,
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
  }));
  return [...changed, ...never];
}
