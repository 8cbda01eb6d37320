// Metrics of mutating policies by upstream's names (k8s.io/apiserver/pkg/admission/plugin/policy/mutating/metrics).
import type { Metrics } from '#component-base';

/** One mutation that was tried. `problem`: why it was not done. */
export interface ObservedMutation {
  policy: string;
  binding: string;
  seconds: number;
  problem?: string;
}

function errorType(problem: string | undefined): string {
  if (problem === undefined) return 'no_error';
  if (problem.startsWith('compilation')) return 'compile_error';
  return problem.startsWith('validation failed due to running out of cost budget') ? 'out_of_budget' : 'invalid_error';
}

export function mutationMetrics(metrics: Metrics): (mutation: ObservedMutation) => void {
  const labels = ['policy', 'policy_binding', 'error_type'];
  const checks = metrics.counter({
    name: 'apiserver_mutating_admission_policy_check_total',
    help: 'Mutation admission policy check total, labeled by policy and further identified by binding.',
    labels,
  });
  const durations = metrics.histogram({
    name: 'apiserver_mutating_admission_policy_check_duration_seconds',
    help: 'Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.',
    labels,
    buckets: [0.0000005, 0.001, 0.01, 0.1, 1],
  });
  return ({ policy, binding, seconds, problem }) => {
    const values = [policy, binding, errorType(problem)];
    checks.inc(1, ...values);
    durations.observe(seconds, ...values);
  };
}
