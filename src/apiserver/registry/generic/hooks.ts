// Joins storage hooks (allocators, bootstrap checks) to one write, and settles them exactly once whatever happens to it. Most resources have no hooks and
// most hooks do not wait: each method answers undefined then, when all is done.
import type { FieldError } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import { inTurn } from './in-turn.ts';
import type { FinishWrite, StorageHook } from './storage-hook.ts';
import type { WriteContext } from './types.ts';

type Pending = Promise<void> | undefined;

/** Takes what a hook answers, at once or when it comes. */
const take = <T>(answer: T | Promise<T>, taken: (value: T) => void): Pending => {
  if (answer instanceof Promise) return answer.then(taken);
  taken(answer);
  return undefined;
};

export class HookRun {
  readonly #context: WriteContext;
  /** What is wrong with the object for the sake of others, once `judge` is done. */
  readonly problems: FieldError[] = [];
  #begun: FinishWrite[] = [];

  constructor(context: WriteContext) {
    this.#context = context;
  }

  get #hooks(): readonly StorageHook[] {
    return this.#context.resource.hooks;
  }

  check(draft: UnknownObject, old: UnknownObject | undefined): Pending {
    return inTurn(this.#hooks, (hook) => hook.check?.(draft, old, this.#context));
  }

  /** Finds `problems`. */
  judge(draft: UnknownObject, old: UnknownObject | undefined): Pending {
    return inTurn(this.#hooks, (hook) =>
      take(hook.problems?.(draft, old, this.#context), (found) => void (found && this.problems.push(...found))),
    );
  }

  beginCreate(draft: UnknownObject): Pending {
    return inTurn(this.#hooks, (hook) => take(hook.beginCreate?.(draft, this.#context), this.#add));
  }

  beginUpdate(draft: UnknownObject, old: UnknownObject): Pending {
    return inTurn(this.#hooks, (hook) => take(hook.beginUpdate?.(draft, old, this.#context), this.#add));
  }

  afterDelete(old: UnknownObject): Pending {
    return inTurn(this.#hooks, (hook) => hook.afterDelete?.(old, this.#context));
  }

  /** Calls every hook that began, with whether the write was committed. A second call does nothing. */
  finish(committed: boolean): Pending {
    return inTurn(this.#begun.splice(0), (finish) => finish(committed));
  }

  readonly #add = (finish: FinishWrite | undefined): void => {
    if (finish) this.#begun.push(finish);
  };
}
