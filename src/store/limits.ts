// Every bound of the room in one place; the figures are etcd's defaults where etcd has one (etcd v3.6 configuration options).

/** Keys and values of one request together (etcd `--max-request-bytes`). */
export const requestBytesMax = 1.5 * 1024 * 1024;
/** Operations in one branch of a transaction, as the etcd front accepts them (etcd `--max-txn-ops`). */
export const txnOperationsMax = 128;
/** Longest lease, about 285 years (etcd `lease.MaxLeaseTTL`). */
export const leaseSecondsMax = 9_000_000_000;
/** Shortest lease; shorter ones are raised to it (etcd: one and a half election timeouts, rounded up). */
export const leaseSecondsMin = 2;
/** Revisions written in one durable batch; what comes in meanwhile goes into the next one. */
export const batchRevisionsMax = 4096;
/** Results of a batch handed out at a time: what their receivers do next must leave time to others. */
export const publishTicketsMax = 32;
/** Dead records removed from disk together with one batch, so that compaction never delays writers for long. */
export const batchRemovalsMax = 2048;
/** Revisions forgotten, or delivered to one lagging watcher, before other work gets a turn. */
export const sliceRevisionsMax = 2048;
/** Keys in one chunk of the sorted index before it is split. */
export const indexChunkKeysMax = 512;
/** Address space that LMDB reserves; the file grows only as needed. */
export const mapBytes = 64 * 1024 ** 3;
/** LMDB page size: the fastest safe one for values of a few kilobytes. */
export const pageBytes = 16384;
/** Memory that values read at the start are copied into, many together. */
export const readSlabBytes = 1024 * 1024;
/** Longest wait for one answer of a remote store. */
export const requestTimeoutMs = 10_000;
/** Longest wait for a member to say its version. */
export const statusTimeoutMs = 2_000;
/** Longest wait for a first answer when a remote store is opened. */
export const connectTimeoutMs = 20_000;
/** Wait before connecting again: doubles from the first to the second figure. */
export const reconnectDelayMsMin = 50;
export const reconnectDelayMsMax = 2_000;
/** Pings on a quiet connection, and how long their answer may take (upstream's etcd client in the apiserver). */
export const keepAliveTimeMs = 30_000;
export const keepAliveTimeoutMs = 10_000;
/** After this long without an answer progress of a watch is asked for again (upstream's cacher asks every 100 ms while somebody waits). */
export const progressRetryMs = 100;
/** How old the figures of `stats()` of a remote store may be before they are asked for again. */
export const statsAgeMsMax = 10_000;
/** Room for the envelope of a gRPC message around the request. */
export const grpcOverheadBytes = 512 * 1024;
/** Events waiting for one slow watch stream of the front before it is ended; the client resumes from what it has read. */
export const watchBacklogEventsMax = 100_000;
/** Period of the progress notices that a watch can ask for (etcd `--experimental-watch-progress-notify-interval`). */
export const progressNotifyMs = 10 * 60 * 1000;
/** Between two compactions (upstream's apiserver, `--etcd-compaction-interval`). */
export const compactIntervalMs = 5 * 60 * 1000;
