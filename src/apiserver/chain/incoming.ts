// A request on its way through the chain, with the handles of the way it came: where its body comes from and how it is answered.
import type { StatusError } from '#apimachinery/errors';
import type { SchemaTable } from '#apimachinery/schema';
import type { RawExchange, SpecialRest } from '../registry/special.ts';
import type { DeleteOptions } from '../registry/generic/delete-options.ts';
import type { Decoded, ServedResource } from '../registry/generic/types.ts';
import type { Request } from '../request/request.ts';
import type { Outcome } from './outcome.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What a body is to be read as. */
export interface BodyTarget {
  group: string;
  version: string;
  kind: string;
  schema: SchemaTable;
  typeName: string;
  protobuf: boolean;
  /** What is answered to any body that cannot be read as wanted; absent: upstream's usual words. */
  unreadableText?: string;
  /** Group and version in other forms that are read alike. */
  alsoAccepts?: readonly string[];
  /** Reads the value in another way than by the table (custom resources). `apiVersion`: as what it is read, by default the target's. */
  read?(value: unknown, strict: boolean, apiVersion?: string): Decoded;
}

export interface Patch {
  /** Media type. */
  type: string;
  value: unknown;
  strictErrors: string[];
}

/** Bytes to decode, or an object handed over. What it gives is private to the request. */
export interface Body {
  /** Throws 415 for a media type that is not read. `custom`: custom resources have no protobuf form. */
  checkType(custom: boolean): void;
  /** Until it is all there. Rejects with 413. */
  arrive(): Promise<void>;
  /** Rejects with 415, too. */
  decode(target: BodyTarget, validation: FieldValidation): Promise<Decoded>;
  /** The media type of a patch. Throws 415 for one that is not taken; `custom`: custom resources take no strategic patches. */
  patchType(custom: boolean): string;
  patch(custom: boolean): Promise<Patch>;
  /** The options in the body of a DELETE; undefined when none were sent. */
  deleteOptions(schema: SchemaTable, custom: boolean): Promise<(DeleteOptions & Record<string, unknown>) | undefined>;
  /** What a client over a connection would send; absent where the bytes are at hand. */
  asSent?(): { type: string; value: unknown } | undefined;
}

/** What will be answered, as far as it decides in which forms it can be shown. */
export type Shown =
  | { resource: ServedResource; collection: boolean; tables: boolean }
  | { special: SpecialRest }
  | 'document'
  /** No router refuses a media type before the document is looked for. */
  | 'unrouted document';

/** How whoever asked hears of the outcome. */
export interface Reply {
  /** Before anything is done: throws 406 for what cannot be shown as the client wants it. */
  agree(shown: Shown): void;
  /** Resolves when the answer is sent or, of a stream, has begun. */
  send(outcome: Exclude<Outcome, { is: 'failed' }>): Promise<void> | undefined;
  /** `forbidden`: the request of a known user did not reach its endpoint. Does nothing where an answer has begun. */
  fail(error: StatusError, forbidden: boolean): void;
  /** 0 before there is one. */
  readonly status: number;
  /** Nothing can be answered any more. */
  readonly over: boolean;
  /** The answer is a stream that goes on after `send`, or a connection that speaks another protocol. */
  readonly streaming: boolean;
  /** Called once, with the status, when an answer begins; only one can listen. */
  onStart(callback: (status: number) => void): void;
  /** Called once when the stream is over. */
  onEnd(callback: () => void): void;
  /** Called when an answer has begun and must wait for its client to take it, and when the connection speaks another protocol from now on. */
  onWait(callback: () => void): void;
}

export interface Incoming extends Request {
  readonly body: Body;
  readonly reply: Reply;
  /** The bytes themselves, for endpoints that hand a connection on; absent in memory. */
  readonly connection?: RawExchange | undefined;
  /** Says whose it is to the connection it came over, whose later requests take turns with all of that flow; absent in memory. */
  servedFor?(flow: string): void;
}
