// The part of etcd's v3 gRPC API that client and front speak, as facts: message, field number, type
// (https://etcd.io/docs/v3.6/learning/api/, packages etcdserverpb and mvccpb). `oneof` groups are written `group!name`.

/** Field lists: `number name type`, `*` before the type for repeated fields, `group!` before the name for members of a oneof. */
export const messageFields: Record<string, readonly string[]> = {
  'mvccpb.KeyValue': [
    '1 key bytes',
    '2 createRevision int64',
    '3 modRevision int64',
    '4 version int64',
    '5 value bytes',
    '6 lease int64',
  ],
  'mvccpb.Event': ['1 type int32', '2 kv mvccpb.KeyValue', '3 prevKv mvccpb.KeyValue'],
  ResponseHeader: ['1 clusterId uint64', '2 memberId uint64', '3 revision int64', '4 raftTerm uint64'],
  RangeRequest: [
    '1 key bytes',
    '2 rangeEnd bytes',
    '3 limit int64',
    '4 revision int64',
    '5 sortOrder int32',
    '6 sortTarget int32',
    '7 serializable bool',
    '8 keysOnly bool',
    '9 countOnly bool',
    '10 minModRevision int64',
    '11 maxModRevision int64',
    '12 minCreateRevision int64',
    '13 maxCreateRevision int64',
  ],
  RangeResponse: ['1 header ResponseHeader', '2 kvs *mvccpb.KeyValue', '3 more bool', '4 count int64'],
  PutRequest: ['1 key bytes', '2 value bytes', '3 lease int64', '4 prevKv bool', '5 ignoreValue bool', '6 ignoreLease bool'],
  PutResponse: ['1 header ResponseHeader', '2 prevKv mvccpb.KeyValue'],
  DeleteRangeRequest: ['1 key bytes', '2 rangeEnd bytes', '3 prevKv bool'],
  DeleteRangeResponse: ['1 header ResponseHeader', '2 deleted int64', '3 prevKvs *mvccpb.KeyValue'],
  RequestOp: [
    '1 request!requestRange RangeRequest',
    '2 request!requestPut PutRequest',
    '3 request!requestDeleteRange DeleteRangeRequest',
    '4 request!requestTxn TxnRequest',
  ],
  ResponseOp: [
    '1 response!responseRange RangeResponse',
    '2 response!responsePut PutResponse',
    '3 response!responseDeleteRange DeleteRangeResponse',
    '4 response!responseTxn TxnResponse',
  ],
  Compare: [
    '1 result int32',
    '2 target int32',
    '3 key bytes',
    '4 targetUnion!version int64',
    '5 targetUnion!createRevision int64',
    '6 targetUnion!modRevision int64',
    '7 targetUnion!value bytes',
    '8 targetUnion!lease int64',
    '64 rangeEnd bytes',
  ],
  TxnRequest: ['1 compare *Compare', '2 success *RequestOp', '3 failure *RequestOp'],
  TxnResponse: ['1 header ResponseHeader', '2 succeeded bool', '3 responses *ResponseOp'],
  CompactionRequest: ['1 revision int64', '2 physical bool'],
  CompactionResponse: ['1 header ResponseHeader'],
  WatchRequest: [
    '1 requestUnion!createRequest WatchCreateRequest',
    '2 requestUnion!cancelRequest WatchCancelRequest',
    '3 requestUnion!progressRequest WatchProgressRequest',
  ],
  WatchCreateRequest: [
    '1 key bytes',
    '2 rangeEnd bytes',
    '3 startRevision int64',
    '4 progressNotify bool',
    '5 filters *int32',
    '6 prevKv bool',
    '7 watchId int64',
    '8 fragment bool',
  ],
  WatchCancelRequest: ['1 watchId int64'],
  WatchProgressRequest: [],
  WatchResponse: [
    '1 header ResponseHeader',
    '2 watchId int64',
    '3 created bool',
    '4 canceled bool',
    '5 compactRevision int64',
    '6 cancelReason string',
    '7 fragment bool',
    '11 events *mvccpb.Event',
  ],
  LeaseGrantRequest: ['1 TTL int64', '2 ID int64'],
  LeaseGrantResponse: ['1 header ResponseHeader', '2 ID int64', '3 TTL int64', '4 error string'],
  LeaseRevokeRequest: ['1 ID int64'],
  LeaseRevokeResponse: ['1 header ResponseHeader'],
  LeaseKeepAliveRequest: ['1 ID int64'],
  LeaseKeepAliveResponse: ['1 header ResponseHeader', '2 ID int64', '3 TTL int64'],
  LeaseTimeToLiveRequest: ['1 ID int64', '2 keys bool'],
  LeaseTimeToLiveResponse: ['1 header ResponseHeader', '2 ID int64', '3 TTL int64', '4 grantedTTL int64', '5 keys *bytes'],
  LeaseLeasesRequest: [],
  LeaseLeasesResponse: ['1 header ResponseHeader', '2 leases *LeaseStatus'],
  LeaseStatus: ['1 ID int64'],
  MemberListRequest: ['1 linearizable bool'],
  MemberListResponse: ['1 header ResponseHeader', '2 members *Member'],
  Member: ['1 ID uint64', '2 name string', '3 peerURLs *string', '4 clientURLs *string', '5 isLearner bool'],
  AlarmRequest: ['1 action int32', '2 memberID uint64', '3 alarm int32'],
  AlarmResponse: ['1 header ResponseHeader', '2 alarms *AlarmMember'],
  AlarmMember: ['1 memberID uint64', '2 alarm int32'],
  DefragmentRequest: [],
  DefragmentResponse: ['1 header ResponseHeader'],
  SnapshotRequest: [],
  SnapshotResponse: ['1 header ResponseHeader', '2 remainingBytes uint64', '3 blob bytes', '4 version string'],
  StatusRequest: [],
  StatusResponse: [
    '1 header ResponseHeader',
    '2 version string',
    '3 dbSize int64',
    '4 leader uint64',
    '5 raftIndex uint64',
    '6 raftTerm uint64',
    '7 raftAppliedIndex uint64',
    '8 errors *string',
    '9 dbSizeInUse int64',
    '10 isLearner bool',
  ],
};

/** Methods: `name request response`; both sides of `Watch` and `LeaseKeepAlive` are streams, and the answer of `Snapshot`. */
export const serviceMethods = {
  KV: [
    'Range RangeRequest RangeResponse',
    'Put PutRequest PutResponse',
    'DeleteRange DeleteRangeRequest DeleteRangeResponse',
    'Txn TxnRequest TxnResponse',
    'Compact CompactionRequest CompactionResponse',
  ],
  Watch: ['Watch WatchRequest WatchResponse'],
  Lease: [
    'LeaseGrant LeaseGrantRequest LeaseGrantResponse',
    'LeaseRevoke LeaseRevokeRequest LeaseRevokeResponse',
    'LeaseKeepAlive LeaseKeepAliveRequest LeaseKeepAliveResponse',
    'LeaseTimeToLive LeaseTimeToLiveRequest LeaseTimeToLiveResponse',
    'LeaseLeases LeaseLeasesRequest LeaseLeasesResponse',
  ],
  Cluster: ['MemberList MemberListRequest MemberListResponse'],
  Maintenance: [
    'Alarm AlarmRequest AlarmResponse',
    'Status StatusRequest StatusResponse',
    'Defragment DefragmentRequest DefragmentResponse',
    'Snapshot SnapshotRequest SnapshotResponse',
  ],
} as const;

export const streamingMethods: readonly string[] = ['Watch', 'LeaseKeepAlive'];
/** The methods whose answer alone is a stream. */
export const answeringMethods: readonly string[] = ['Snapshot'];

/** The numbers by which etcd's protocol knows comparisons. */
export const compareResults = { '=': 0, '>': 1, '<': 2, '!=': 3 } as const;
export const compareTargets = { version: 0, createRevision: 1, modRevision: 2, value: 3, lease: 4 } as const;
export const eventTypes = { PUT: 0, DELETE: 1 } as const;
