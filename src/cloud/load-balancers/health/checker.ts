// Probes targets in their time. Load balancers that ask the same of the same target share the probe.
import type { Clock, Timer } from '#utils';
import type { HealthCheck, TargetHealth } from '../../model/index.ts';
import { limits } from '../limits.ts';
import { afterProbe, initialState, type ProbeState } from './health.ts';
import type { Heard } from './heard.ts';
import { type Dial, type Finding, probe } from './probe.ts';

export interface Probed {
  host: string;
  check: HealthCheck;
  /** The health that the target had when it was last looked at, so that a restart does not begin anew. */
  before: TargetHealth | undefined;
}

export interface HealthChecker {
  /** Probes these and no others from now on. */
  want(probed: Iterable<Probed>): void;
  /** The health of a target; `initial` until probes have a result. */
  health(probed: Pick<Probed, 'host' | 'check'>): TargetHealth;
  close(): void;
}

const keyOf = ({ host, check }: Pick<Probed, 'host' | 'check'>): string =>
  [
    host,
    check.protocol,
    check.port,
    check.path ?? '',
    check.intervalMs,
    check.timeoutMs,
    check.healthyThreshold,
    check.unhealthyThreshold,
  ].join(' ');

interface Entry {
  probed: Probed;
  state: ProbeState;
  /** Probes in a row that were not held against it. */
  forgiven: number;
  timer: Timer | undefined;
}

/**
 * `onChange` is called when the health of some target is another than before. A target that `heard` knows to speak on other connections is busy, where it does
 * not answer in time: that is held against it only when it goes on.
 */
export function createHealthChecker(dial: Dial, clock: Clock, onChange: () => void, heard?: Heard): HealthChecker {
  const entries = new Map<string, Entry>();
  const waiting: Entry[] = [];
  let running = 0;

  const isWanted = (entry: Entry): boolean => entries.get(keyOf(entry.probed)) === entry;
  const due = (entry: Entry): void => {
    entry.timer = undefined;
    waiting.push(entry);
    next();
  };
  const next = (): void => {
    while (running < limits.probesMax) {
      const entry = waiting.shift();
      if (!entry) return;
      if (isWanted(entry)) void run(entry);
    }
  };
  const isBusy = async ({ probed, state, forgiven }: Entry, finding: Finding): Promise<boolean> => {
    if (finding !== 'silent' || state.health !== 'healthy' || forgiven >= limits.probesForgivenMax) return false;
    const { host, check } = probed;
    // Not in the time before: a target may have gone while it was asked.
    return (await heard?.(host, check.port, check.timeoutMs / 2).catch(() => false)) ?? false;
  };
  const run = async (entry: Entry): Promise<void> => {
    running++;
    const { host, check } = entry.probed;
    const began = clock.monotonic();
    try {
      const finding = await probe(dial, host, check, clock);
      const { health } = entry.state;
      if (await isBusy(entry, finding)) entry.forgiven++;
      else entry.state = afterProbe(entry.state, finding === 'good', check);
      if (finding !== 'silent') entry.forgiven = 0;
      if (health !== entry.state.health && isWanted(entry)) onChange();
    } catch {
      // Nothing could be said: the state stays, and the next probe will tell.
    }
    running--;
    if (isWanted(entry)) entry.timer = clock.setTimer(check.intervalMs - (clock.monotonic() - began), () => due(entry));
    next();
  };

  return {
    want(probed) {
      const wanted = new Map([...probed].map((one) => [keyOf(one), one]));
      for (const [key, entry] of entries) {
        if (wanted.has(key)) continue;
        entry.timer?.cancel();
        entries.delete(key);
      }
      for (const [key, one] of wanted) {
        if (entries.has(key)) continue;
        const entry: Entry = { probed: one, state: initialState(one.before), forgiven: 0, timer: undefined };
        entries.set(key, entry);
        due(entry);
      }
    },
    health: (probed) => entries.get(keyOf(probed))?.state.health ?? 'initial',
    close() {
      for (const entry of entries.values()) entry.timer?.cancel();
      entries.clear();
    },
  };
}
