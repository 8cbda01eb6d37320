// Whether a node still gives signs of life (pkg/controller/nodelifecycle, tryUpdateNodeHealth). Times are those at which this process saw a
// sign, not those written in it: clocks of nodes may be wrong. Pure.
import type { Lease } from '#api/coordination/v1';
import type { Node, NodeCondition } from '#api/core/v1';
import { formatTime } from '#apimachinery/meta';
import type { ControllersConfig } from '../config.ts';
import { readyCondition } from './taints.ts';

export type HealthConfig = Pick<ControllersConfig, 'nodeMonitorGracePeriodMs' | 'nodeStartupGracePeriodMs'>;

/** What was seen of a node. */
export interface Sighting {
  uid: string;
  /** When the last sign of life was seen. */
  seenAtMs: number;
  /** The kubelet's last status post, as written in the Ready condition; undefined: it never posted. */
  heartbeat: string | undefined;
  renewTime: string | undefined;
}

/** Silent kubelets are not asked about networks: that condition is the control plane's. */
const kubeletConditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** Takes note of signs of life since the last look. */
export function sight(node: Node, lease: Lease | undefined, known: Sighting | undefined, now: number): Sighting {
  const ready = readyCondition(node);
  const heartbeat = ready ? (ready.lastHeartbeatTime ?? '') : undefined;
  const renewTime = lease?.spec?.renewTime ?? undefined;
  const uid = node.metadata.uid ?? '';
  const seen = { uid, heartbeat, renewTime };
  if (known?.uid !== uid) {
    const bornMs = Date.parse(node.metadata.creationTimestamp ?? '');
    return { ...seen, seenAtMs: heartbeat === undefined && renewTime === undefined && !Number.isNaN(bornMs) ? bornMs : now };
  }
  const renewed = renewTime !== undefined && (known.renewTime === undefined || known.renewTime < renewTime);
  return { ...seen, seenAtMs: renewed || heartbeat !== known.heartbeat ? now : known.seenAtMs };
}

/** The conditions of a node that has been silent too long; undefined while it has not, or when its Ready condition says so already. */
export function silentConditions(
  node: Node,
  { seenAtMs }: Sighting,
  config: HealthConfig,
  now: number,
): NodeCondition[] | undefined {
  const ready = readyCondition(node);
  const graceMs = ready ? config.nodeMonitorGracePeriodMs : config.nodeStartupGracePeriodMs;
  if (now <= seenAtMs + graceMs || ready?.status === 'Unknown') return undefined;
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
