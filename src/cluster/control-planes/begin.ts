// What a start does before any machine of the control plane boots.
import type { Logger } from '#utils';
import type { AuditFiles } from '../control-plane.ts';
import type { Progress } from '../terminal/progress.ts';
import { keepAudit } from './audit.ts';
import { finishRestore } from './etcd-snapshot.ts';
import { localPlanes } from './local-snapshot.ts';

export async function beginPlanes(
  { dataDir, audit }: { dataDir: string; audit?: AuditFiles | undefined },
  { logger, progress }: { logger: Logger; progress: Progress },
): Promise<void> {
  if ((await finishRestore(await localPlanes(dataDir))) !== undefined)
    progress.say('   the restore of a snapshot that was cut off is finished');
  const kept = await keepAudit(dataDir, audit, logger);
  if (kept)
    progress.say(
      `   each apiserver records requests in control-planes/<machine>/logs/${kept.log === '-' ? 'kube-apiserver.log' : kept.log}`,
    );
}
