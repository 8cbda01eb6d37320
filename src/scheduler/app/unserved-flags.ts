// Flags of upstream's kube-scheduler that have nothing to do here, and why. docs/flags.md is made from these tables.
import type { UnservedRows } from '#component-base';

/** Flags that tune machinery which is not here. They are accepted with a warning. */
export const withoutEffect: UnservedRows = {
  'contention-profiling': ['bool', true, 'there is one thread, without locks to profile'],
  'kube-api-content-type': ['string', 'application/vnd.kubernetes.protobuf', 'requests are JSON'],
  'log-text-info-buffer-size': ['string', '0', 'log lines are written at once'],
  'show-hidden-metrics-for-version': ['string', '', 'no metric is hidden here'],
};

/** Flags that ask for behaviour which is not here. They are refused at the start. */
export const refused: UnservedRows = {
  'allow-metric-labels': ['map', {}, 'values of metric labels cannot be limited'],
  'allow-metric-labels-manifest': ['string', '', 'values of metric labels cannot be limited'],
  'disabled-metrics': ['strings', [], 'single metrics cannot be switched off'],
  'log-text-split-stream': ['bool', false, 'all lines of the log go to standard error'],
};
