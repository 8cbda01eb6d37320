// Every bound of the room in one place; the figures are etcd's defaults where etcd has one (etcd v3.6 configuration options).

/** Keys and values of one request together (etcd `--max-request-bytes`). */
export const requestBytesMax = 1.5 * 1024 * 1024;
/** Operations in one branch of a transaction, as the etcd front accepts them (etcd `--max-txn-ops`). */
export const txnOperationsMax = 128;
/** Comparisons and operations of a transaction with all that are nested in it, and keys that its ranges may look at unless it has only one. */
export const txnStepsMax = 4096;
export const txnRangeKeysMax = 100_000;
/** Longest lease, about 285 years (etcd `lease.MaxLeaseTTL`). */
export const leaseSecondsMax = 9_000_000_000;
/** Shortest lease; shorter ones are raised to it (etcd: one and a half election timeouts, rounded up). */
export const leaseSecondsMin = 2;
/** Revisions written in one durable batch; what comes in meanwhile goes into the next one. */
export const batchRevisionsMax = 4096;
/** Results of a batch handed out at a time: what their receivers do next must leave time to others. */
export const publishTicketsMax = 32;
/** Revisions forgotten, or delivered to one lagging watcher, before other work gets a turn. */
export const sliceRevisionsMax = 2048;
/** Keys in one chunk of the sorted index before it is split. */
export const indexChunkKeysMax = 512;
/** Requests that may wait for the disk before more are refused (etcd has a bound for the same, `maxGapBetweenApplyAndCommitIndex`). */
export const waitingRequestsMax = 10_000;
/** Wait before a lease that has run out and could not be ended is tried again. */
export const leaseRetryMs = 1000;
/** What the data of an embedded store may grow to (etcd's suggested maximum for `--quota-backend-bytes`). */
export const quotaBytesDefault = 8 * 1024 ** 3;
/** Files of the log: the first ones are small, those of a large store larger. The smallest holds any one request. */
export const segmentBytesMin = 2 * 1024 * 1024;
export const segmentBytesMax = 8 * 1024 * 1024;
/** The log's files are about this part of the data each. */
export const segmentsPerStore = 16;
/** Files of the log prepared ahead: one to go on in, and one kept back for what frees space. */
export const spareSegments = 2;
/** Left free on the disk, for those who also need some, when a file is prepared. */
export const diskFreeBytesMin = 4 * 1024 * 1024;
/** Zeros written at a time to a file that is prepared: what is to be flushed meanwhile must not wait long. */
export const zeroBytes = 512 * 1024;
/** A frame of the log is closed when it has grown to this. */
export const frameBytesTarget = 256 * 1024;
/** Bytes of requests in one write to the log, unless a single one is larger. */
export const appendBytesMax = 1024 * 1024;
/** Batches up to this size are encoded in memory that the log keeps: one write of `appendBytesMax` with the heads of its frames. */
export const scratchBytesMax = 2 * 1024 * 1024;
/** Bytes that the cleaner moves to the log's end at a time, before writers get their turn. */
export const cleanBytesMax = 256 * 1024;
/** The log may hold this times what is in use before its oldest file is cleaned. */
export const garbageFactor = 2;
/** Wait before a disk that took no more is tried again. */
export const diskRetryMs = 1000;
/** Revisions skipped by a restore that does not know what was written after the snapshot (etcd's advice for `--bump-revision`). */
export const restoreRevisions = 1_000_000_000;
/** Revisions that an etcd is raised by in a move: each is a write. */
export const migrateRaiseMax = 20_000_000;
/** How often a store that somebody else has open is read again when files went away meanwhile. */
export const checkReadsMax = 3;
/** When nothing was written for this long, the log notes that everything before was acknowledged. */
export const markDelayMs = 200;
/** A flush that takes longer is worth a warning (etcd's `warnSyncDuration`). */
export const slowSyncMs = 1000;
/** Memory that values read at the start are copied into, many together. */
export const readSlabBytes = 64 * 1024;
/** Longest wait for one answer of a remote store. */
export const requestTimeoutMs = 10_000;
/** Longest wait for a member to say its version. */
export const statusTimeoutMs = 2_000;
/** The time between two warnings about an etcd that does not answer. */
export const complaintMs = 10_000;
/** Wait before the first of them, when a store is opened: a member that starts beside this program is soon there. */
export const openComplaintMs = 3_000;
/** Longest wait for a change of an etcd cluster's members. */
export const memberTimeoutMs = 5_000;
/** Longest wait for a first answer when a remote store is opened. */
export const connectTimeoutMs = 20_000;
/** Wait before connecting again: doubles from the first to the second figure. */
export const reconnectDelayMsMin = 50;
export const reconnectDelayMsMax = 2_000;
/** Pings on a quiet connection, and how long their answer may take (upstream's etcd client in the apiserver). */
export const keepAliveTimeMs = 30_000;
export const keepAliveTimeoutMs = 10_000;
/**
 * When a watch has not said for this long how far it is, its progress is asked for again (upstream's cacher asks every 100 ms while somebody waits).
 */
export const progressRetryMs = 100;
/** How old the figures of `stats()` of a remote store may be before they are asked for again. */
export const statsAgeMsMax = 10_000;
/** Room for the envelope of a gRPC message around the request. */
export const grpcOverheadBytes = 512 * 1024;
/** The front asks a silent peer so often, and waits so long for its answer; a connection without any call is closed after the last. */
export const keepAliveMs = { interval: 45_000, timeout: 20_000 };
export const connectionIdleMs = 300_000;
/** Events waiting for one slow watch stream of the front before it is ended; the client resumes from what it has read. */
export const watchBacklogEventsMax = 100_000;
/** A move to or from etcd: keys read at a time; operations (etcd `--max-txn-ops`) and bytes of one transaction, and how many are under way. */
export const migratePageKeys = 1000;
export const migrateTxnOperations = 128;
export const migrateTxnBytes = 512 * 1024;
export const migrateRequestsAtOnce = 16;
/** The lifetime that is assumed for a lease whose own cannot be asked for: as long as apiservers keep events. */
export const unknownLeaseSeconds = 3600;
/** The size of one message of a snapshot's stream. */
export const snapshotBlobBytes = 64 * 1024;
/** Period of the progress notices that a watch can ask for (etcd `--experimental-watch-progress-notify-interval`). */
export const progressNotifyMs = 10 * 60 * 1000;
/** What an embedded store keeps of the past, in bytes of values that were replaced: of more, the older half is compacted before its time. */
export const historyBytesMax = 128 * 1024 * 1024;
/** What a version weighs beside its value. */
export const versionBytes = 256;
/** Between two compactions (upstream's apiserver, `--etcd-compaction-interval`). */
export const compactIntervalMs = 5 * 60 * 1000;
/** How long a connection to the front may say nothing before it is closed, and may take for its handshake. */
export const greetingTimeoutMs = 10_000;
/** How long a connection that speaks HTTP/1.1, as probes do, may take from its greeting to the end of the answer. */
export const probeTimeoutMs = 30_000;
/** Connections that a front has open at the same time. */
export const frontConnectionsMax = 4_096;
