// Flags of upstream's kube-proxy that have nothing to do here, and why. docs/flags.md is made from these tables.
import type { UnservedRows } from '#component-base';

/** Flags that tune machinery which is not here. They are accepted with a warning. */
export const withoutEffect: UnservedRows = {
  'bind-address-hard-fail': ['bool', false, 'nothing is served at the bind address but /healthz'],
  'config-sync-period': ['duration', 900_000, 'Services and endpoints are watched'],
  'conntrack-max-per-core': ['int', 32_768, 'connection tracking of the kernel is left as it is'],
  'conntrack-min': ['int', 131_072, 'connection tracking of the kernel is left as it is'],
  'conntrack-tcp-timeout-close-wait': ['duration', 3_600_000, 'connection tracking of the kernel is left as it is'],
  'conntrack-tcp-timeout-established': ['duration', 86_400_000, 'connection tracking of the kernel is left as it is'],
  'conntrack-udp-timeout': ['duration', 0, 'connection tracking of the kernel is left as it is'],
  'conntrack-udp-timeout-stream': ['duration', 0, 'connection tracking of the kernel is left as it is'],
  'iptables-min-sync-period': ['duration', 1_000, 'changes are gathered for a time of its own'],
  'iptables-sync-period': ['duration', 30_000, 'all rules are looked at again at times of their own'],
  'ipvs-exclude-cidrs': ['strings', [], 'there is no IPVS mode'],
  'ipvs-min-sync-period': ['duration', 1_000, 'there is no IPVS mode'],
  'ipvs-scheduler': ['string', '', 'there is no IPVS mode'],
  'ipvs-strict-arp': ['bool', false, 'there is no IPVS mode'],
  'ipvs-sync-period': ['duration', 30_000, 'there is no IPVS mode'],
  'ipvs-tcp-timeout': ['duration', 0, 'there is no IPVS mode'],
  'ipvs-tcpfin-timeout': ['duration', 0, 'there is no IPVS mode'],
  'ipvs-udp-timeout': ['duration', 0, 'there is no IPVS mode'],
  'kube-api-burst': ['int', 10, 'requests are not limited here'],
  'kube-api-content-type': ['string', 'application/vnd.kubernetes.protobuf', 'requests are JSON'],
  'kube-api-qps': ['float', 5, 'requests are not limited here'],
  'log-text-info-buffer-size': ['string', '0', 'log lines are written at once'],
  'metrics-port': ['int', 10_249, 'use --metrics-bind-address'],
  'oom-score-adj': ['int', -999, 'the score of the process is left as it was at the start'],
  profiling: ['bool', false, 'there is no /debug/pprof'],
  'show-hidden-metrics-for-version': ['string', '', 'no metric is hidden here'],
};

/** Flags that ask for behaviour which is not here. They are refused at the start. */
export const refused: UnservedRows = {
  'bind-address': ['string', '0.0.0.0', '/healthz has an address of its own, and rules are for all addresses of the node'],
  'conntrack-tcp-be-liberal': ['bool', false, 'connection tracking of the kernel is left as it is'],
  'healthz-port': ['int', 10_256, 'use --healthz-bind-address'],
  'init-only': ['bool', false, 'the proxy cannot be split into a privileged start and the rest'],
  'iptables-localhost-nodeports': ['bool', false, 'node ports do not answer on loopback addresses'],
  'log-text-split-stream': ['bool', false, 'all lines of the log go to standard error'],
  'nodeport-addresses': ['strings', [], 'node ports are served on all addresses of the node'],
  'pod-bridge-interface': ['string', '', 'local traffic is known by --cluster-cidr only'],
  'pod-interface-name-prefix': ['string', '', 'local traffic is known by --cluster-cidr only'],
};
