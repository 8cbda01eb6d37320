// `--enable-leader-migration` and `--leader-migration-config` (k8s.io/controller-manager leadermigration/options).
import { readFileSync } from 'node:fs';
import { flag, type FlagValues } from '../flags/index.ts';
import { defaultLeaderMigration, type LeaderMigrationConfiguration, parseLeaderMigration } from './configuration.ts';

export const leaderMigrationFlags = () => ({
  enableLeaderMigration: flag.bool({
    name: 'enable-leader-migration',
    default: false,
    help: 'Run the controllers that are in migration under a lease shared with the other manager.',
    section: 'Leader migration',
  }),
  leaderMigrationConfig: flag.string({
    name: 'leader-migration-config',
    default: '',
    help: 'File with a LeaderMigrationConfiguration (controllermanager.config.k8s.io v1, v1beta1 or v1alpha1). Default: routes, load balancers and the lifecycle of cloud nodes, in whichever manager leads.',
    section: 'Leader migration',
  }),
});

export type LeaderMigrationFlags = FlagValues<ReturnType<typeof leaderMigrationFlags>>;

/**
 * The leader migration that the flags ask for; undefined where nothing migrates. Throws an Error for a file that cannot be read or used.
 */
export function leaderMigrationOf(flags: LeaderMigrationFlags): LeaderMigrationConfiguration | undefined {
  const { enableLeaderMigration, leaderMigrationConfig: path } = flags;
  if (!enableLeaderMigration) return undefined;
  if (path === '') return defaultLeaderMigration;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`unable to read leader migration configuration from "${path}": ${why}`, { cause: error });
  }
  return parseLeaderMigration(text);
}
