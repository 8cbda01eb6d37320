// The scheduler's metrics under upstream's names (pkg/scheduler/metrics).
import { exponentialBuckets, type Metrics } from '#component-base';

export interface SchedulerMetrics {
  attempt(result: 'scheduled' | 'unschedulable' | 'error', profile: string, seconds: number): void;
  algorithm(seconds: number): void;
  preempted(victims: number): void;
}

export function schedulerMetrics(metrics: Metrics, sizes: () => Record<string, number>): SchedulerMetrics {
  const attempts = metrics.counter({
    name: 'scheduler_schedule_attempts_total',
    help: 'Attempts to schedule pods, by result: unschedulable means a pod could not be placed, error an internal problem.',
    labels: ['result', 'profile'],
  });
  const duration = metrics.histogram({
    name: 'scheduler_scheduling_attempt_duration_seconds',
    help: 'Scheduling attempt latency in seconds (algorithm and binding).',
    labels: ['result', 'profile'],
    buckets: exponentialBuckets(0.001, 2, 15),
  });
  const algorithm = metrics.histogram({
    name: 'scheduler_scheduling_algorithm_duration_seconds',
    help: 'Scheduling algorithm latency in seconds.',
    buckets: exponentialBuckets(0.00001, 2, 20),
  });
  const victims = metrics.histogram({
    name: 'scheduler_preemption_victims',
    help: 'Number of selected preemption victims.',
    buckets: exponentialBuckets(1, 2, 7),
  });
  metrics.gauge({
    name: 'scheduler_pending_pods',
    help: 'Pending pods by queue.',
    labels: ['queue'],
    collect(gauge) {
      const now = sizes();
      for (const queue of ['active', 'backoff', 'unschedulable', 'gated']) gauge.set(now[queue] ?? 0, queue);
    },
  });
  return {
    attempt(result, profile, seconds) {
      attempts.inc(1, result, profile);
      duration.observe(seconds, result, profile);
    },
    algorithm: (seconds) => algorithm.observe(seconds),
    preempted: (count) => victims.observe(count),
  };
}
