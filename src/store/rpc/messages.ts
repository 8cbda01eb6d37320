// The messages as TypeScript sees them. Decoded messages have every scalar and list; encoded ones may leave out what is zero.

export interface RpcKeyValue {
  key: Buffer;
  value: Buffer;
  createRevision: number;
  modRevision: number;
  version: number;
  lease: number;
}

export interface RpcHeader {
  clusterId: number;
  memberId: number;
  revision: number;
  raftTerm: number;
}

/** A range request as it comes from the wire, where a missing field has its zero value. */
export interface RpcRange {
  key: Buffer;
  rangeEnd: Buffer;
  limit: number;
  revision: number;
  sortOrder: number;
  sortTarget: number;
  serializable: boolean;
  keysOnly: boolean;
  countOnly: boolean;
  minModRevision: number;
  maxModRevision: number;
  minCreateRevision: number;
  maxCreateRevision: number;
}

export interface RpcRangeResponse {
  header: RpcHeader | null;
  kvs: RpcKeyValue[];
  more: boolean;
  count: number;
}

export interface RpcPut {
  key: Buffer;
  value: Buffer;
  lease: number;
  prevKv: boolean;
  ignoreValue: boolean;
  ignoreLease: boolean;
}

export interface RpcPutResponse {
  header: RpcHeader | null;
  prevKv: RpcKeyValue | null;
}

export interface RpcDeleteRange {
  key: Buffer;
  rangeEnd: Buffer;
  prevKv: boolean;
}

export interface RpcDeleteRangeResponse {
  header: RpcHeader | null;
  deleted: number;
  prevKvs: RpcKeyValue[];
}

export interface RpcRequestOp {
  requestRange?: RpcRange;
  requestPut?: RpcPut;
  requestDeleteRange?: RpcDeleteRange;
  requestTxn?: RpcTxn;
}

export interface RpcResponseOp {
  responseRange?: RpcRangeResponse;
  responsePut?: RpcPutResponse;
  responseDeleteRange?: RpcDeleteRangeResponse;
  responseTxn?: RpcTxnResponse;
}

export interface RpcCompare {
  result: number;
  target: number;
  key: Buffer;
  version?: number;
  createRevision?: number;
  modRevision?: number;
  value?: Buffer;
  lease?: number;
  rangeEnd: Buffer;
}

export interface RpcTxn {
  compare: RpcCompare[];
  success: RpcRequestOp[];
  failure: RpcRequestOp[];
}

export interface RpcTxnResponse {
  header: RpcHeader | null;
  succeeded: boolean;
  responses: RpcResponseOp[];
}

export interface RpcCompaction {
  revision: number;
  physical: boolean;
}

export interface RpcWatchCreate {
  key: Buffer;
  rangeEnd: Buffer;
  startRevision: number;
  progressNotify: boolean;
  filters: number[];
  prevKv: boolean;
  watchId: number;
  fragment: boolean;
}

export interface RpcWatchRequest {
  createRequest?: RpcWatchCreate;
  cancelRequest?: { watchId: number };
  progressRequest?: object;
}

export interface RpcEvent {
  type: number;
  kv: RpcKeyValue;
  prevKv: RpcKeyValue | null;
}

export interface RpcWatchResponse {
  header: RpcHeader | null;
  watchId: number;
  created: boolean;
  canceled: boolean;
  compactRevision: number;
  cancelReason: string;
  events: RpcEvent[];
}

export interface RpcLease {
  header: RpcHeader | null;
  ID: number;
  TTL: number;
}

export interface RpcStatus {
  header: RpcHeader | null;
  version: string;
  dbSize: number;
  dbSizeInUse: number;
  leader: number;
}
