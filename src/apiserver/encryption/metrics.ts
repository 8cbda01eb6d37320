// Metrics of encryption in the store by upstream's names (k8s.io/apiserver/pkg/storage/value/metrics.go, .../encryptionconfig/metrics).
import { exponentialBuckets, type Metrics } from '#component-base';
import type { ObserveTransformation } from './transformer.ts';

/** Counts and times the encryptions and decryptions of each resource. */
export function transformationMetrics(metrics: Metrics): (resource: string) => ObserveTransformation {
  const durations = metrics.histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'Latencies in seconds of value transformation operations.',
    labels: ['transformation_type', 'transformer_prefix'],
    buckets: exponentialBuckets(5e-6, 2, 25),
  });
  const total = metrics.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Total number of transformations. Successful transformation will have a status OK and a varied status string when the transformation fails.',
    labels: ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  });
  return (resource) => (type, prefix, milliseconds, error) => {
    total.inc(1, resource, type, prefix, error === undefined ? 'OK' : 'unknown-non-grpc');
    if (error === undefined) durations.observe(milliseconds / 1000, type, prefix);
  };
}

export function reloadMetrics(metrics: Metrics, now: () => number): (succeeded: boolean) => void {
  const labels = ['status', 'apiserver_id_hash'];
  const total = metrics.counter({
    name: 'apiserver_encryption_config_controller_automatic_reloads_total',
    help: 'Total number of reload successes and failures of encryption configuration split by apiserver identity.',
    labels,
  });
  const last = metrics.gauge({
    name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
    help: 'Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.',
    labels,
  });
  return (succeeded) => {
    const status = succeeded ? 'success' : 'failure';
    total.inc(1, status, '');
    last.set(now() / 1000, status, '');
  };
}
