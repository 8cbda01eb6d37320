// postStart and preStop handlers (upstream pkg/kubelet/lifecycle/handlers.go).
import type { Container, LifecycleHandler, Pod } from '#api/core/v1';

/** A preStop handler that was not done when the grace period ended. */
export class HookTimeout extends Error {
  constructor() {
    super('PreStop hook not completed in grace period');
    this.name = 'HookTimeout';
  }
}

export interface LifecycleHooks {
  /** Resolves when the handler succeeded; rejects with its failure, or with HookTimeout when it takes longer than `timeoutMs`. */
  run(pod: Pod, container: Container, containerId: string, handler: LifecycleHandler, timeoutMs?: number): Promise<void>;
}

/** Hooks that always succeed, for containers that do not exist. */
export const noHooks: LifecycleHooks = { run: async () => {} };
