// What can go wrong in a store, with etcd's own messages (go.etcd.io/etcd/api/v3/v3rpc/rpctypes).

export class StoreError extends Error {
  override name = 'StoreError';
}

/** The requested revision was compacted away. */
export class CompactedError extends StoreError {
  override name = 'CompactedError';
  readonly compactedRevision: number;
  constructor(compactedRevision: number) {
    super('etcdserver: mvcc: required revision has been compacted');
    this.compactedRevision = compactedRevision;
  }
}

/** The requested revision lies in the future. */
export class FutureRevisionError extends StoreError {
  override name = 'FutureRevisionError';
  constructor() {
    super('etcdserver: mvcc: required revision is a future revision');
  }
}

/** The request itself is wrong (no key, one key changed twice, ...): the same request will never succeed. */
export class InvalidRequestError extends StoreError {
  override name = 'InvalidRequestError';
}

export class RequestTooLargeError extends StoreError {
  override name = 'RequestTooLargeError';
  constructor() {
    super('etcdserver: request is too large');
  }
}

export class LeaseExistsError extends StoreError {
  override name = 'LeaseExistsError';
  constructor() {
    super('etcdserver: lease already exists');
  }
}

/** Another process has the store open. */
export class LockedError extends StoreError {
  override name = 'LockedError';
}

/** What is on disk cannot be read as a store. */
export class CorruptError extends StoreError {
  override name = 'CorruptError';
}

export class LeaseNotFoundError extends StoreError {
  override name = 'LeaseNotFoundError';
  constructor() {
    super('etcdserver: requested lease not found');
  }
}

/** The disk is full, or the quota is used up: what frees space is still accepted. Nothing of the request happened. */
export class NoSpaceError extends StoreError {
  override name = 'NoSpaceError';
  constructor(options?: ErrorOptions) {
    super('etcdserver: mvcc: database space exceeded', options);
  }
}

/** The disk does not take writes at present; the store goes on reading and tries again. The request may yet turn out to have happened. */
export class DiskError extends StoreError {
  override name = 'DiskError';
}

export class TooManyRequestsError extends StoreError {
  override name = 'TooManyRequestsError';
  constructor() {
    super('etcdserver: too many requests');
  }
}

/** The store was closed or has failed for good: nothing is accepted any more. `cause` says why. */
export class ClosedError extends StoreError {
  override name = 'ClosedError';
}

/** No answer from a remote store in time: the write may or may not have happened. */
export class UnavailableError extends StoreError {
  override name = 'UnavailableError';
}
