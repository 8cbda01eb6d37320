// How the inner parts of the server write.
import type { KubeObject } from '#apimachinery/meta';

/** Writes of the apiserver itself: defaulted, validated and stored like any write, but neither authorized nor admitted. */
export interface ClusterWriter {
  /** Rejects with `StatusError` (409 AlreadyExists and so on). The object is taken over. */
  create<T extends KubeObject>(group: string, resource: string, object: T, options?: InternalWriteOptions): Promise<T>;
  /**
   * Reads, changes and writes again, as often as another write comes between. `change` gets the frozen object and answers the new one, or
   * undefined to leave it; it may throw. `subresource` chooses the door ('status', ...); '' bypasses none of the kind's rules. `unchecked`:
   * the kind's rules for updates do not apply (a binding sets what nobody else may).
   */
  update<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    change: (current: T) => T | undefined,
    options?: InternalWriteOptions & { subresource?: string; unchecked?: boolean },
  ): Promise<T>;
  /**
   * Applies the fields that `options.manager` wants to own, as a server-side apply that takes them from other managers; `config` names its
   * object and no other field. Rejects with 404 when the object is absent and `subresource` is a door that creates none.
   */
  apply<T extends KubeObject>(
    group: string,
    resource: string,
    config: Partial<T> & KubeObject,
    options: InternalWriteOptions & { manager: string; subresource?: string },
  ): Promise<T>;
  /** Rejects with 404 when absent, 409 when a precondition fails. Answers the object as last seen. */
  delete<T extends KubeObject>(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    options?: InternalWriteOptions & { deleteOptions?: Record<string, unknown> },
  ): Promise<T>;
}

export interface InternalWriteOptions {
  dryRun?: boolean;
  /** The field manager to record. Without one, managed fields are left alone. */
  manager?: string;
}
