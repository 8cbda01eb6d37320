// Why an object that somebody has deleted is still there. Pure.
import { own } from '#utils';
import type { KubeObject } from '#apimachinery/meta';
import { ageText, someNames } from './words.ts';

/** Who takes a finalizer away, and when. */
const knownFinalizers: Readonly<Record<string, string>> = {
  'kubernetes.io/pvc-protection': 'no pod may use the claim any more',
  'kubernetes.io/pv-protection': 'no claim may be bound to the volume any more',
  'kubernetes.io/vac-protection': 'no claim or volume may name the class any more',
  'service.kubernetes.io/load-balancer-cleanup': 'the cloud-controller-manager removes the load balancer first',
  'batch.kubernetes.io/job-tracking': 'the Job controller counts the pod first',
  'customresourcecleanup.apiextensions.k8s.io': 'all objects of the kind go first, with finalizers of their own',
  foregroundDeletion: 'the objects that it owns go first, as the deletion was asked to be in the foreground',
  orphan: 'the garbage collector takes it out of the owners of its objects first',
};

const finalizerText = (finalizer: string): string => {
  const known = own(knownFinalizers, finalizer);
  return known
    ? `waits for finalizer ${finalizer}: ${known}`
    : `waits for finalizer ${finalizer}: whoever put it there takes it out of metadata.finalizers when their work is done`;
};

/** `holders`: objects that keep it, as far as they were found. */
export function deletionSentences({ metadata, kind }: KubeObject, holders: readonly string[], nowMs: number): string[] {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = metadata;
  if (!deletionTimestamp) return [];
  const grace = kind === 'Pod' ? (deletionGracePeriodSeconds ?? 0) : 0;
  const askedMs = Date.parse(deletionTimestamp) - grace * 1000;
  return [
    `is being deleted: asked for ${ageText(askedMs, nowMs)} ago`,
    ...(kind === 'Pod' && finalizers.length === 0
      ? [`its kubelet has not said yet that its containers have ended; they have ${grace} s for that`]
      : []),
    ...finalizers.map(finalizerText),
    ...(holders.length > 0 ? [`kept by ${someNames(holders, 5)}`] : []),
  ];
}
