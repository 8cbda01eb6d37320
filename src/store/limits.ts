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
