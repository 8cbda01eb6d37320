// Flags of `sagong etcd` with etcd's names and defaults (https://etcd.io/docs/v3.6/op-guide/configuration/). What concerns several members is
// known by name: this etcd is one member, and its own leader.
import { flag, flagsWithoutEffect, refusedFlags, type UnservedRows } from '#component-base';

const oneMember = 'this etcd is one member';
const withoutEffect: UnservedRows = {
  'auto-compaction-mode': ['string', 'periodic', 'whoever stores here compacts, as kube-apiserver does'],
  'backend-batch-interval': ['duration', 0, 'writes are durable when they are answered'],
  'backend-batch-limit': ['int', 0, 'writes are durable when they are answered'],
  'election-timeout': ['int', 1000, oneMember],
  'enable-pprof': ['bool', false, 'there is no /debug/pprof'],
  'heartbeat-interval': ['int', 100, oneMember],
  'initial-advertise-peer-urls': ['strings', ['http://localhost:2380'], oneMember],
  'initial-cluster-state': ['string', 'new', oneMember],
  'initial-cluster-token': ['string', 'etcd-cluster', oneMember],
  'initial-election-tick-advance': ['bool', true, oneMember],
  'listen-peer-urls': ['strings', ['http://localhost:2380'], oneMember],
  logger: ['string', 'zap', 'log lines are text'],
  'log-outputs': ['strings', ['default'], 'log lines go to standard error'],
  'max-snapshots': ['int', 5, 'the log of the store has no snapshots beside it'],
  'max-wals': ['int', 5, 'the log of the store gives its files back by itself'],
  metrics: ['string', 'basic', 'there are no metrics of its own'],
  'peer-auto-tls': ['bool', false, oneMember],
  'peer-cert-file': ['string', '', oneMember],
  'peer-client-cert-auth': ['bool', false, oneMember],
  'peer-key-file': ['string', '', oneMember],
  'peer-trusted-ca-file': ['string', '', oneMember],
  'pre-vote': ['bool', true, oneMember],
  'snapshot-count': ['int', 10_000, 'the log of the store has no snapshots beside it'],
  'strict-reconfig-check': ['bool', true, oneMember],
  'wal-dir': ['string', '', 'the log of the store is in --data-dir'],
};
const refused: UnservedRows = {
  'auth-token': ['string', 'simple', 'there are no users: clients are known by certificates, or are all alike'],
  'auto-compaction-retention': ['string', '0', 'whoever stores here compacts, as kube-apiserver does'],
  'auto-tls': ['bool', false, 'give --cert-file and --key-file'],
  'cipher-suites': ['strings', [], "the library's suites are served"],
  'client-crl-file': ['string', '', 'certificates are not looked up in lists of revoked ones'],
  'config-file': ['string', '', 'settings are flags'],
  discovery: ['string', '', oneMember],
  'discovery-srv': ['string', '', oneMember],
  'force-new-cluster': ['bool', false, oneMember],
  'listen-metrics-urls': ['strings', [], 'there are no metrics of its own'],
};

export const etcdFlags = {
  name: flag.string({ name: 'name', default: 'default', help: 'Human-readable name for this member.', section: 'Member' }),
  dataDir: flag.string({
    name: 'data-dir',
    default: '',
    help: "Path to the data directory: of an embedded store (a cluster's is <its directory>/store). Default: ${name}.etcd.",
    section: 'Member',
  }),
  listenClientUrls: flag.strings({
    name: 'listen-client-urls',
    default: ['http://localhost:2379'],
    help: 'List of URLs to listen on for client traffic.',
    section: 'Member',
  }),
  advertiseClientUrls: flag.strings({
    name: 'advertise-client-urls',
    default: ['http://localhost:2379'],
    help: "List of this member's client URLs to advertise to the public.",
    section: 'Clustering',
  }),
  initialCluster: flag.strings({
    name: 'initial-cluster',
    default: ['default=http://localhost:2380'],
    help: 'Initial cluster configuration: one member, which is this one.',
    section: 'Clustering',
  }),
  quotaBackendBytes: flag.int({
    name: 'quota-backend-bytes',
    default: 0,
    help: 'Raise alarms when backend size exceeds the given quota (0 defaults to 8 GiB).',
    section: 'Member',
  }),
  unsafeNoFsync: flag.bool({
    name: 'unsafe-no-fsync',
    default: false,
    help: 'Disables fsync, unsafe, will cause data loss.',
    section: 'Unsafe feature',
  }),
  certFile: flag.string({
    name: 'cert-file',
    default: '',
    help: 'Path to the client server TLS cert file.',
    section: 'Security',
  }),
  keyFile: flag.string({ name: 'key-file', default: '', help: 'Path to the client server TLS key file.', section: 'Security' }),
  trustedCaFile: flag.string({
    name: 'trusted-ca-file',
    default: '',
    help: 'Path to the client server TLS trusted CA cert file; clients must show a certificate of it.',
    section: 'Security',
  }),
  clientCertAuth: flag.bool({
    name: 'client-cert-auth',
    default: false,
    help: 'Enable client cert authentication; with --trusted-ca-file.',
    section: 'Security',
  }),
  logLevel: flag.choice(['debug', 'info', 'warn', 'error', 'panic', 'fatal'] as const, {
    name: 'log-level',
    default: 'info',
    help: 'Configures log level.',
    section: 'Logging',
  }),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
};
