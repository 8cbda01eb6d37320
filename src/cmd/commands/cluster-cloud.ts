// `sagong cluster-cloud`: the cloud under a cluster with real nodes. Started by `sagong up`, and ends with it: in order when told to, at once
// when the cluster's process has crashed, so that the machines run on.
import { type CloudProcessSettings, runCloudProcess } from '#cluster';
import { execCommand } from '#host';
import { componentDeps, untilStopped } from '../component.ts';

const logs = { verbosity: 0, loggingFormat: 'text' } as const;

export async function runClusterCloud(settings: CloudProcessSettings): Promise<void> {
  const deps = componentDeps('cloud', logs);
  process.once('disconnect', () => {
    deps.logger.error("the cluster's process is gone");
    process.exit(1);
  });
  const cloud = await runCloudProcess(settings, { ...deps, exec: execCommand });
  await untilStopped(() => cloud.close());
}
