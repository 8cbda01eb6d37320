// Waiting for conditions of the cluster by watching, never by sleeping.
import type { Node } from '#api/core/v1';
import type { Informer } from '#client';
import type { KubeObject } from '#apimachinery/meta';
import type { Clock } from '#utils';

export const isNodeReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

/** Its kubelet has said at `sinceMs` or later whether it is Ready. Conditions have whole seconds. */
export const isHeardSince = (node: Node, sinceMs: number): boolean =>
  (node.status?.conditions ?? []).some(
    ({ type, lastHeartbeatTime }) => type === 'Ready' && Date.parse(lastHeartbeatTime ?? '') >= sinceMs - (sinceMs % 1000),
  );

/** Ready, as its kubelet has said at `sinceMs` or later. */
export const isNodeReadySince = (node: Node, sinceMs: number): boolean => isNodeReady(node) && isHeardSince(node, sinceMs);

/** Resolves when `condition` holds for the objects of an informer that has synced; rejects with `complaint()` after `timeoutMs`. */
export function waitFor<T extends KubeObject>(
  informer: Informer<T>,
  condition: (objects: T[]) => boolean,
  {
    clock,
    timeoutMs,
    complaint,
    signal,
  }: { clock: Clock; timeoutMs: number; complaint: (objects: T[]) => string; signal?: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let over = false;
    const finish = (error?: Error): void => {
      if (over) return;
      over = true;
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
      // The handler may still be being added.
      queueMicrotask(() => remove());
      if (error) reject(error);
      else resolve();
    };
    const check = (): void => {
      if (!over && condition(informer.lister.list())) finish();
    };
    const onAbort = (): void => finish(signal?.reason instanceof Error ? signal.reason : new Error('interrupted'));
    const timer = clock.setTimer(timeoutMs, () => finish(new Error(complaint(informer.lister.list()))));
    const remove = informer.addHandler({ onAdd: check, onUpdate: check, onDelete: check });
    signal?.addEventListener('abort', onAbort, { once: true });
    check();
  });
}
