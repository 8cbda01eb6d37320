// Which lock a loop of a manager runs under (k8s.io/controller-manager leadermigration, FilterFunc). Pure.
import type { LeaderMigrationConfiguration } from './configuration.ts';

/** `main`: the manager's own lease; `migration`: the one the managers share; `none`: another manager runs it. */
export type Lock = 'main' | 'migration' | 'none';

/**
 * Says where a loop runs. `names` are all the names it goes by: the default configuration still calls two loops as they were called before
 * 1.28. The last entry about a loop counts.
 */
export function lockOf(configuration: LeaderMigrationConfiguration, component: string, names: readonly string[]): Lock {
  const entry = configuration.controllerLeaders.findLast(({ name }) => names.includes(name));
  if (!entry) return 'main';
  return entry.component === component || entry.component === '*' ? 'migration' : 'none';
}
