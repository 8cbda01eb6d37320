// Joins storage hooks (allocators, bootstrap checks) to one write, and settles them exactly once whatever happens to it.
import type { FieldError } from '#apimachinery/field';
import type { UnknownObject } from '#apimachinery/meta';
import type { FinishWrite } from './storage-hook.ts';
import type { WriteContext } from './types.ts';

export class HookRun {
  readonly #context: WriteContext;
  #pending: FinishWrite[] = [];

  constructor(context: WriteContext) {
    this.#context = context;
  }

  async check(draft: UnknownObject, old: UnknownObject | undefined): Promise<void> {
    for (const hook of this.#context.resource.hooks) await hook.check?.(draft, old, this.#context);
  }

  async problems(draft: UnknownObject, old: UnknownObject | undefined): Promise<FieldError[]> {
    const found: FieldError[] = [];
    for (const hook of this.#context.resource.hooks) found.push(...((await hook.problems?.(draft, old, this.#context)) ?? []));
    return found;
  }

  async beginCreate(draft: UnknownObject): Promise<void> {
    for (const hook of this.#context.resource.hooks) this.#add(await hook.beginCreate?.(draft, this.#context));
  }

  async beginUpdate(draft: UnknownObject, old: UnknownObject): Promise<void> {
    for (const hook of this.#context.resource.hooks) this.#add(await hook.beginUpdate?.(draft, old, this.#context));
  }

  async afterDelete(old: UnknownObject): Promise<void> {
    for (const hook of this.#context.resource.hooks) await hook.afterDelete?.(old, this.#context);
  }

  /** Calls every hook that began, with whether the write was committed. A second call does nothing. */
  async finish(committed: boolean): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    for (const finish of pending) await finish(committed);
  }

  #add(finish: FinishWrite | undefined): void {
    if (finish) this.#pending.push(finish);
  }
}
