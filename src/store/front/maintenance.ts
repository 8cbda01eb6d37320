// etcd's Maintenance service (https://etcd.io/docs/v3.6/dev-guide/api_reference_v3/): status, alarms, defragmentation, and snapshots as a stream.
import type { ServerWritableStream } from '@grpc/grpc-js';
import { NoSpaceError } from '../errors.ts';
import { snapshotBlobBytes } from '../limits.ts';
import { toRpcFailure } from '../rpc/errors.ts';
import { encodeSnapshot } from '../snapshot/index.ts';
import type { EmbeddedStore } from '../types.ts';
import { headerAt, memberId } from './convert.ts';

/** The etcd release whose API and behaviour this is. */
export const etcdVersion = '3.6.0';
const alarmTypes = { NONE: 0, NOSPACE: 1 } as const;
const alarmActions = { GET: 0, ACTIVATE: 1, DEACTIVATE: 2 } as const;

interface AlarmRequest {
  action: number;
  alarm: number;
}

export type SnapshotStream = ServerWritableStream<object, object>;

/** An alarm stands while the store takes no writes for want of room, and ends by itself: nobody can set it or take it away. */
const alarmsOf = (store: EmbeddedStore): { memberID: number; alarm: number }[] =>
  store.writeRefusal() instanceof NoSpaceError ? [{ memberID: memberId, alarm: alarmTypes.NOSPACE }] : [];

export const maintenanceHandlers = (store: EmbeddedStore) => ({
  Alarm: async ({ action, alarm }: AlarmRequest) => {
    const asked = alarmsOf(store).filter((one) => alarm === alarmTypes.NONE || one.alarm === alarm);
    const alarms = action === alarmActions.GET || action === alarmActions.DEACTIVATE ? asked : [];
    return { header: headerAt(store.revision()), alarms };
  },
  Defragment: async () => {
    await store.defragment();
    return { header: headerAt(store.revision()) };
  },
  Status: async () => statusOf(store),
});

function statusOf(store: EmbeddedStore): object {
  const revision = store.revision();
  const { bytes, bytesInUse } = store.stats();
  const raft = { leader: memberId, raftIndex: revision, raftTerm: 1, raftAppliedIndex: revision };
  const errors = alarmsOf(store).map(() => `memberID:${memberId} alarm:NOSPACE `);
  return { header: headerAt(revision), version: etcdVersion, dbSize: bytes, dbSizeInUse: bytesInUse, errors, ...raft };
}

/** Sends all of the store at one revision, at the pace at which it is read. */
export async function serveSnapshot(store: EmbeddedStore, stream: SnapshotStream): Promise<void> {
  const contents = store.capture();
  const header = headerAt(contents.revision);
  try {
    for (const blob of blobs(encodeSnapshot(contents))) {
      if (stream.cancelled) return;
      if (!stream.write({ header, blob, version: etcdVersion })) await drained(stream);
    }
    stream.end();
  } catch (error) {
    stream.emit('error', toRpcFailure(error));
  }
}

const drained = (stream: SnapshotStream): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done).off('cancelled', done);
      resolve();
    };
    stream.on('drain', done).on('close', done).on('cancelled', done);
  });

/** Pages are small and values may be large: messages are of one size. */
function* blobs(pieces: Iterable<Buffer>): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < snapshotBlobBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}
