// What the list of cloud loops has of each.
import type { ControllerDefinition } from '#controller-runtime';

/** One loop, and why it cannot run where it cannot. */
export interface CloudControllerEntry {
  name: string;
  aliases: readonly string[];
  /** Label of `running_managed_controllers`. */
  metric: string;
  /** `*` is not enough to run it. */
  disabledByDefault?: boolean;
  /** Why it cannot be asked for. */
  problem?: string;
  make(): ControllerDefinition | { notStarted: string };
}
