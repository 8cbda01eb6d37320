// Metrics of keys that KMS plugins name, by upstream's names (k8s.io/apiserver/pkg/storage/value/encrypt/envelope/metrics).
import type { Metrics } from '#component-base';

const prefix = 'apiserver_envelope_encryption_';

export type KeyUse = 'to_storage' | 'from_storage' | 'status' | 'invalid';

/** Counts one use of a key; of an invalid one `what` is the reason, otherwise the hash of its ID. */
export function keyIdMetrics(metrics: Metrics, provider: string, now: () => number): (use: KeyUse, what: string) => void {
  const labels = ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'];
  const total = metrics.counter({
    name: `${prefix}key_id_hash_total`,
    help: 'Number of times a keyID is used split by transformation type, provider, and apiserver identity.',
    labels,
  });
  const last = metrics.gauge({
    name: `${prefix}key_id_hash_last_timestamp_seconds`,
    help: 'The last time in seconds when a keyID was used.',
    labels,
  });
  const lastStatus = metrics.gauge({
    name: `${prefix}key_id_hash_status_last_timestamp_seconds`,
    help: 'The last time in seconds when a keyID was returned by the Status RPC call.',
    labels: ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  });
  const invalid = metrics.counter({
    name: `${prefix}invalid_key_id_from_status_total`,
    help: 'Number of times an invalid keyID is returned by the Status RPC call split by error.',
    labels: ['provider_name', 'error'],
  });
  return (use, what) => {
    const seconds = now() / 1000;
    if (use === 'invalid') invalid.inc(1, provider, what);
    else if (use === 'status') lastStatus.set(seconds, provider, what, '');
    else {
      total.inc(1, use, provider, what, '');
      last.set(seconds, use, provider, what, '');
    }
  };
}
