// Deletes finished Jobs after the time they ask for (pkg/controller/ttlafterfinished).
import type { Job } from '#api/batch/v1';
import { type KubeObject, splitKey } from '#apimachinery/meta';
import { type ControllerDefinition, defineController, ownKey, type Plan, type Ref, refKey, watch } from '#controller-runtime';
import { jobs } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';

export interface ExpiryView {
  ref: Ref;
  job: Job | undefined;
  live: ReadonlyMap<string, KubeObject | undefined>;
}

/** When the job expires, in Unix milliseconds; undefined: never, or not finished. */
export function expiresAt(job: Job | undefined): number | undefined {
  const ttl = job?.spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || job?.metadata.deletionTimestamp) return undefined;
  const finished = job?.status?.conditions?.find(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
  const at = Date.parse(finished?.lastTransitionTime ?? '') + ttl * 1000;
  return Number.isNaN(at) ? undefined : at;
}

export function reconcileExpiry({ ref, job, live }: ExpiryView, now: number): Plan {
  const at = expiresAt(job);
  if (at === undefined) return { effects: [] };
  const because = `It finished and asks to be kept for ${job?.spec?.ttlSecondsAfterFinished} s.`;
  if (at > now) return { effects: [], requeueAfterMs: at - now, because };
  // Somebody may just have asked for more time.
  if (!live.has(refKey(ref))) return { effects: [], needsLive: [ref] };
  const fresh = live.get(refKey(ref)) as Job | undefined;
  const freshAt = expiresAt(fresh);
  if (freshAt === undefined) return { effects: [] };
  if (freshAt > now) return { effects: [], requeueAfterMs: freshAt - now, because };
  const uid = fresh?.metadata.uid;
  return {
    effects: [{ op: 'delete', ref, options: { propagationPolicy: 'Foreground', ...(uid && { preconditions: { uid } }) } }],
    because: `${because} That time is over.`,
  };
}

export const ttlAfterFinishedController: ControllerDefinition = defineController<ExpiryView>({
  name: 'ttl-after-finished-controller',
  aliases: ['ttl-after-finished'],
  for: jobs,
  rights: [allow('delete,get,list,watch', 'batch', 'jobs'), recordEvents],
  watches: [watch<Job>({ resource: jobs, keys: (job) => (expiresAt(job) === undefined ? [] : ownKey(job)) })],
  view: (key, cache, { live }) => {
    const ref: Ref = { resource: jobs, ...splitKey(key) };
    return { ref, job: cache.get<Job>(jobs, ref.namespace, ref.name), live };
  },
  reconcile: reconcileExpiry,
  concurrency: { flag: 'concurrent-ttl-after-finished-syncs', default: 5 },
});
