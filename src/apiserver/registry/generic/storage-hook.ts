// What joins the writes of one resource beside its strategy: allocators and checks against other objects.
import type { FieldError } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import type { WriteContext } from './types.ts';

/** The write that a storage hook joins; hooks of allocators only act on the main resource. */
export type HookedWrite = Pick<WriteContext, 'request' | 'target' | 'dryRun' | 'settings'>;

/** Called exactly once: whether the write was committed. A dry run counts as not committed. */
export type FinishWrite = (committed: boolean) => void | Promise<void>;

/** Joins the writes of one resource beside its strategy (upstream's BeginCreate/BeginUpdate/AfterDelete and storage wrappers). */
export interface StorageHook {
  group: string;
  resource: string;
  /**
   * After mutating admission, before the strategy's prepare and validation; throws `StatusError` to refuse. `old` undefined: create.
   * Objects are not changed.
   */
  check?(draft: UnknownObject, old: UnknownObject | undefined, context: HookedWrite): void | Promise<void>;
  /** What is wrong with the object for the sake of others, told before what its kind's rules say of it. `old` undefined: create. */
  problems?(draft: UnknownObject, old: UnknownObject | undefined, context: HookedWrite): FieldError[] | Promise<FieldError[]>;
  /** Create: after `check`, before prepare and validation, so that validation sees what was filled in. May change the draft. */
  beginCreate?(draft: UnknownObject, context: HookedWrite): FinishWrite | undefined | Promise<FinishWrite | undefined>;
  /**
   * Update: after `check`, before prepare and validation, like `beginCreate` (upstream's BeginUpdate): what the client left out and the
   * server allocated before is put back here, so that validation does not take it for a change. May change the draft.
   */
  beginUpdate?(
    draft: UnknownObject,
    old: UnknownObject,
    context: HookedWrite,
  ): FinishWrite | undefined | Promise<FinishWrite | undefined>;
  /** After the object is really gone (not merely marked as terminating). */
  afterDelete?(old: UnknownObject, context: HookedWrite): void | Promise<void>;
}
