// Creates Jobs on a schedule (pkg/controller/cronjob).
import type { CronJob, Job } from '#api/batch/v1';
import { controllerOf, splitKey } from '#apimachinery/meta';
import { type Cache, controllerKey, defineController, ownKey, type ViewContext } from '#controller-runtime';
import { allow, cronJobs, jobs, recordEvents } from '#controller-runtime/workload';
import { type CronJobView, reconcile } from './reconcile.ts';

function view(key: string, cache: Cache, context: ViewContext): CronJobView {
  const { namespace, name } = splitKey(key);
  const cronJob = cache.get<CronJob>(cronJobs, namespace, name);
  const uid = cronJob?.metadata.uid ?? '';
  const owned = cronJob ? cache.ownedBy<Job>(jobs, uid).filter(({ metadata }) => controllerOf(metadata)?.uid === uid) : [];
  return { cronJob, jobs: owned, context };
}

export const cronJobController = defineController<CronJobView>({
  name: 'cronjob-controller',
  aliases: ['cronjob'],
  for: cronJobs,
  concurrency: { flag: 'concurrent-cron-job-syncs', default: 5 },
  rights: [
    allow('get,list,update,watch', 'batch', 'cronjobs'),
    allow('create,delete,get,list,patch,update,watch', 'batch', 'jobs'),
    allow('update', 'batch', 'cronjobs/status'),
    allow('update', 'batch', 'cronjobs/finalizers'),
    allow('delete,list,watch', 'core', 'pods'),
    recordEvents,
  ],
  watches: [
    { resource: cronJobs, keys: ownKey },
    { resource: jobs, keys: controllerKey('CronJob') },
  ],
  view,
  reconcile,
});
