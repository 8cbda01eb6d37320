// What came of a request: the one shape that every way in turns into an answer.
import type { StatusError } from '#apimachinery/errors';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import type { WatchStream } from '#apimachinery/transport';
import type { SpecialRest } from '../registry/special.ts';
import type { ListPage } from '../registry/generic/list.ts';
import type { ListOptions } from '../registry/generic/list-options.ts';
import type { ServedResource } from '../registry/generic/types.ts';
import type { WatchStart } from '../registry/generic/watch.ts';
import type { StoredObject } from '../storage/stored-object.ts';

export type Outcome =
  | { is: 'stored'; status: number; resource: ServedResource; stored: StoredObject }
  /** An object that is not of the resource's own kind: Scale, Status. */
  | { is: 'value'; status: number; resource: ServedResource; value: UnknownObject }
  | { is: 'list'; resource: ServedResource; page: ListPage }
  | { is: 'watch'; resource: ServedResource; start: WatchStart; options: ListOptions }
  /** What an endpoint answers that is not the storage of a kind. */
  | { is: 'special'; status: number; special: SpecialRest; value: UnknownObject }
  | DocumentOutcome
  /** What another API server answered to a component of this process, in the request's version. */
  | { is: 'remote'; value: unknown }
  | { is: 'remote watch'; stream: WatchStream<KubeObject> }
  /** The endpoint answered through the connection itself. */
  | { is: 'answered' }
  /** `cause`: what was thrown, where that was no `StatusError`. */
  | { is: 'failed'; error: StatusError; cause: unknown };

/** Discovery, health, metrics, OpenAPI: a value in the form that was agreed on or as indented JSON, or bytes of a type of their own. */
export type DocumentOutcome =
  | { is: 'document'; status: number; value: object; form: 'agreed' | 'indented' }
  | {
      is: 'bytes';
      status: number;
      /** '' with an empty body. */
      type: string;
      body: Uint8Array | string;
      headers?: Readonly<Record<string, string>>;
      /** As it is, whatever its size. */
      uncompressed?: boolean;
      /** The same bytes are sent to many: their compressed form is kept with them. */
      shared?: boolean;
    };
