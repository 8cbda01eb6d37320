// Counters of statuses (pkg/apis/apps/validation): none negative, parts not larger than the whole.
import { root } from '#apimachinery/field';
import { nonnegativeFields } from '../../common/numbers.ts';
import type { Report } from '../../common/report.ts';

const path = root('status');

interface Counters {
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
}

/** `fields`: counters in upstream's order; `parts`: those that count among `replicas`; `ready`: the name of what available ones are among. */
export function validateCounters<T extends Counters>(
  report: Report,
  status: T,
  fields: (keyof T & string)[],
  parts: (keyof T & string)[],
  ready: string,
): void {
  nonnegativeFields(report, path, status, ...fields);
  const replicas = status.replicas ?? 0;
  for (const name of parts) {
    const value = Number(status[name] ?? 0);
    if (value > replicas) report.invalid(path.child(name), value, 'cannot be greater than status.replicas');
  }
  const available = status.availableReplicas ?? 0;
  if (available > (status.readyReplicas ?? 0))
    report.invalid(path.child('availableReplicas'), available, `cannot be greater than ${ready}`);
}

export function validateCollisionCount(report: Report, now: number | undefined, old: number | undefined): void {
  if (old !== undefined && (now ?? -1) < old) report.invalid(path.child('collisionCount'), now ?? 0, 'cannot be decremented');
}
