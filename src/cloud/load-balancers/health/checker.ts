// Probes targets in their time. Load balancers that ask the same of the same target share the probe.
import type { Clock, Timer } from '#utils';
import type { HealthCheck, TargetHealth } from '../../model/index.ts';
import { limits } from '../limits.ts';
import { afterProbe, initialState, type ProbeState } from './health.ts';
import { type Dial, probe } from './probe.ts';

export interface Probed {
  host: string;
  check: HealthCheck;
  /** What is known from before. */
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
  timer: Timer | undefined;
}

/** `onChange` is called when the health of some target is another than before. */
export function createHealthChecker(dial: Dial, clock: Clock, onChange: () => void): HealthChecker {
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
  const run = async (entry: Entry): Promise<void> => {
    running++;
    const { host, check } = entry.probed;
    const began = clock.monotonic();
    try {
      const good = await probe(dial, host, check, clock);
      const { health } = entry.state;
      entry.state = afterProbe(entry.state, good, check);
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
        const entry: Entry = { probed: one, state: initialState(one.before), timer: undefined };
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
