// Flags of upstream's kube-apiserver that have nothing to do here, and why. docs/flags.md is made from these tables.
import type { UnservedRows } from '#component-base';

/** Flags that tune machinery which is not here. They are accepted with a warning. */
export const withoutEffect: UnservedRows = {
  'apiserver-count': ['int', 1, 'it is for --endpoint-reconciler-type=master-count only'],
  'contention-profiling': ['bool', false, 'there is one thread, without locks to profile'],
  'coordinated-leadership-lease-duration': [
    'duration',
    15_000,
    'leaders are not elected by the API server (alpha upstream, off by default)',
  ],
  'coordinated-leadership-renew-deadline': [
    'duration',
    10_000,
    'leaders are not elected by the API server (alpha upstream, off by default)',
  ],
  'coordinated-leadership-retry-period': [
    'duration',
    2_000,
    'leaders are not elected by the API server (alpha upstream, off by default)',
  ],
  'default-watch-cache-size': ['int', 100, 'the watch cache holds every object and a ring of events of one size'],
  'delete-collection-workers': ['int', 1, 'the objects of a collection are deleted in one pass'],
  'emulation-forward-compatible': ['bool', false, 'only the own version can be emulated'],
  'etcd-count-metric-poll-period': ['duration', 60_000, 'objects are counted in the watch cache, which is always current'],
  'etcd-db-metric-poll-interval': ['duration', 30_000, 'the size of the database is not polled'],
  'etcd-healthcheck-timeout': ['duration', 2_000, 'health follows the watch of the store, which has a limit of its own'],
  'etcd-readycheck-timeout': ['duration', 2_000, 'readiness follows the watch of the store, which has a limit of its own'],
  'kubelet-port': ['int', 10_250, 'the port of a kubelet is the one in the status of its node'],
  'kubelet-read-only-port': ['int', 10_255, 'the port of a kubelet is the one in the status of its node'],
  'kubelet-timeout': ['duration', 5_000, 'requests to kubelets have the time of the request they serve'],
  'lease-reuse-duration-seconds': ['int', 60, 'keys that expire share leases of a fixed length'],
  'log-text-info-buffer-size': ['string', '0', 'log lines are written at once'],
  'runtime-config-emulation-forward-compatible': ['bool', false, 'only the own version can be emulated'],
  'show-hidden-metrics-for-version': ['string', '', 'no metric is hidden here'],
  'storage-initialization-timeout': [
    'duration',
    60_000,
    'the server waits for its store as long as it takes, and is not ready meanwhile',
  ],
  'watch-cache-sizes': ['strings', [], 'the watch cache holds every object and a ring of events of one size'],
};

/** Flags that ask for behaviour which is not here. They are refused at the start. */
export const refused: UnservedRows = {
  'admission-control': ['strings', [], 'use --enable-admission-plugins and --disable-admission-plugins'],
  'aggregator-reject-forwarding-redirect': ['bool', true, 'redirects of aggregated API servers are never followed nor handed on'],
  'allow-metric-labels': ['map', {}, 'values of metric labels cannot be limited'],
  'allow-metric-labels-manifest': ['string', '', 'values of metric labels cannot be limited'],
  'audit-webhook-batch-initial-backoff': ['duration', 10_000, 'it is deprecated; use --audit-webhook-initial-backoff'],
  'authorization-policy-file': ['string', '', 'there is no ABAC authorizer'],
  'debug-socket-path': ['string', '', 'there is no profiling over a socket'],
  'disabled-metrics': ['strings', [], 'single metrics cannot be switched off'],
  'egress-selector-config-file': ['string', '', 'there is no client of network proxies'],
  'enable-garbage-collector': ['bool', true, 'owners and finalizers of dependents are always honoured'],
  'enable-logs-handler': ['bool', false, 'there is no /logs'],
  'etcd-prefix': ['string', '/registry', 'keys are under /registry'],
  'etcd-servers-overrides': ['strings', [], 'all resources are in one store'],
  'goaway-chance': ['float', 0, 'HTTP/2 clients are not told to connect anew'],
  'log-text-split-stream': ['bool', false, 'all lines of the log go to standard error'],
  'max-connection-bytes-per-sec': ['int', 0, 'the rate of connections is not limited'],
  'peer-advertise-ip': ['string', '', 'requests are not handed on to other API servers of the cluster'],
  'peer-advertise-port': ['string', '', 'requests are not handed on to other API servers of the cluster'],
  'peer-ca-file': ['string', '', 'requests are not handed on to other API servers of the cluster'],
  'service-account-signing-endpoint': ['string', '', 'tokens are signed with a key file only'],
  'shutdown-send-retry-after': ['bool', false, 'connections are closed at the end without a retry hint'],
  'shutdown-watch-termination-grace-period': ['duration', 0, 'watches end at once when the server closes'],
  'tracing-config-file': ['string', '', 'requests are not traced'],
  'watch-cache': ['bool', true, 'reads are always served from the watch cache'],
};
