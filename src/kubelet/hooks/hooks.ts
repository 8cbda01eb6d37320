// postStart and preStop handlers (upstream pkg/kubelet/lifecycle/handlers.go).
import type { Container, LifecycleHandler, Pod } from '#api/core/v1';

export interface LifecycleHooks {
  /** Resolves when the handler succeeded; rejects with its failure, or when it takes longer than `timeoutMs`. */
  run(pod: Pod, container: Container, containerId: string, handler: LifecycleHandler, timeoutMs?: number): Promise<void>;
}

/** Hooks of containers that do not exist always succeed. */
export const noHooks: LifecycleHooks = { run: async () => {} };
