// One request on a resource, whichever way it came (HTTP or the direct transport), and what came of it.
import type { UnknownObject } from '#apimachinery/meta';
import type { AuditRecord } from '../audit/index.ts';
import type { UserInfo } from '../contracts.ts';
import type { ListPage } from '../registry/generic/list.ts';
import type { ListOptions } from '../registry/generic/list-options.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { WatchStart } from '../registry/generic/watch.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { BodyTarget, DecodedBody, FieldValidation, RawBody } from './body.ts';

/** Where a request's body comes from: bytes to decode, or an object handed over. */
export interface BodySource {
  /** The body as the target's type; private to the request. */
  decode(target: BodyTarget, validation: FieldValidation): Promise<DecodedBody>;
  /** A patch: its media type and parsed text. */
  patch(strict: boolean): Promise<{ type: string; value: unknown; strictErrors: string[] }>;
  /** DeleteOptions, if any were sent. */
  raw(): Promise<RawBody>;
}

export interface ResourceCall {
  user: UserInfo;
  verb: string;
  resource: ServedResource;
  subresource: string;
  namespace: string;
  name: string;
  query: URLSearchParams;
  forceWatch: boolean;
  userAgent: string;
  now: number;
  body: BodySource;
  signal: AbortSignal | undefined;
  warn(message: string): void;
  /** Learns what was sent, where the request is recorded. */
  audit?: AuditRecord | undefined;
}

export type Outcome =
  | { is: 'stored'; status: number; stored: StoredObject }
  /** An object that is not of the resource's own kind: Scale, Status. */
  | { is: 'value'; status: number; value: UnknownObject }
  | { is: 'list'; page: ListPage }
  | { is: 'watch'; start: WatchStart; options: ListOptions };
