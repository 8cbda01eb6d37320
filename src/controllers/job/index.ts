// Runs pods to completion (pkg/controller/job).
import type { Job } from '#api/batch/v1';
import type { Pod } from '#api/core/v1';
import { controllerOf, type KubeObject, splitKey } from '#apimachinery/meta';
import { type Cache, defineController, ownKey, type ViewContext, watch } from '#controller-runtime';
import { allow, childrenOf, jobs, pods, recordEvents, watchChildren } from '#controller-runtime/workload';
import { jobKind, trackingFinalizer } from './names.ts';
import { type JobView, reconcile } from './reconcile.ts';

const trackedIndex = 'trackedJobPods';
/** Keys of pods without a Job; no Job's name has a colon. */
const strayPrefix = 'pod:';

const isTracked = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(trackingFinalizer) === true;

function trackedKeys(pod: KubeObject): string[] {
  const owner = controllerOf(pod.metadata);
  return isTracked(pod) && owner?.kind === 'Job' ? [`${pod.metadata.namespace ?? ''}/${owner.name}`] : [];
}

/** Nobody owns it, and no Job would adopt it. */
const isStray = (pod: Pod, cache: Cache): boolean =>
  isTracked(pod) &&
  !controllerOf(pod.metadata) &&
  !cache.list<Job>(jobs, pod.metadata.namespace).some((job) => jobKind.selector(job).matches(pod.metadata.labels));

const children = watchChildren(pods, jobKind);

function view(key: string, cache: Cache, context: ViewContext): JobView {
  const { namespace, name } = splitKey(key);
  if (name.startsWith(strayPrefix)) {
    const pod = cache.get<Pod>(pods, namespace, name.slice(strayPrefix.length));
    return { job: undefined, pods: [], strays: pod && isStray(pod, cache) ? [pod] : [], context };
  }
  const job = cache.get<Job>(jobs, namespace, name);
  const strays = cache
    .byIndex<Pod>(pods, trackedIndex, key)
    .filter(({ metadata }) => controllerOf(metadata)?.uid !== job?.metadata.uid);
  return { job, pods: job ? childrenOf<Pod>(cache, pods, job) : [], strays, context };
}

export const jobController = defineController<JobView>({
  name: 'job-controller',
  aliases: ['job'],
  for: jobs,
  concurrency: { flag: 'concurrent-job-syncs', default: 5 },
  rights: [
    allow('get,list,patch,update,watch', 'batch', 'jobs'),
    allow('update', 'batch', 'jobs/status'),
    allow('update', 'batch', 'jobs/finalizers'),
    allow('create,delete,list,patch,watch', 'core', 'pods'),
    recordEvents,
  ],
  watches: [
    { resource: jobs, keys: ownKey },
    watch<Pod>({
      ...children,
      indexers: { ...children.indexers, [trackedIndex]: trackedKeys },
      keys(pod, old, cache) {
        const keys = [...(children.keys?.(pod, old, cache) ?? [])];
        const stray = isTracked(pod) && !controllerOf(pod.metadata);
        return stray ? [...keys, `${pod.metadata.namespace ?? ''}/${strayPrefix}${pod.metadata.name ?? ''}`] : keys;
      },
    }),
  ],
  view,
  reconcile,
});
