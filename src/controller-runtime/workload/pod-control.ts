// Creating and deleting pods for an owner, with upstream's events (pkg/controller RealPodControl).
import type { Pod, PodTemplateSpec } from '#api/core/v1';
import type { KubeObject } from '#apimachinery/meta';
import { podFromTemplate } from '#component-helpers/workload';
import { controllerRef, type Effect } from '../types.ts';
import { pods } from './resources.ts';
import { parseApiVersion } from '#apimachinery/meta';

/** The object with its type, which lists leave out. */
export const typed = <T extends KubeObject>(object: T, apiVersion: string, kind: string): T =>
  object.kind === kind && object.apiVersion === apiVersion ? object : { ...object, apiVersion, kind };

/** A pod of `template` that `owner` (with its kind set) controls. */
export function newPod(template: PodTemplateSpec, owner: KubeObject): Pod {
  const { group, version } = parseApiVersion(owner.apiVersion ?? '');
  return podFromTemplate(template, owner, controllerRef(owner, group, version, owner.kind ?? ''));
}

export const createPod = (pod: Pod, owner: KubeObject): Effect => ({
  op: 'create',
  resource: pods,
  object: pod,
  events: {
    regarding: owner,
    success: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
    failure: { reason: 'FailedCreate', message: 'Error creating: {error}' },
  },
});

export const deletePod = (pod: Pod, owner: KubeObject): Effect => ({
  op: 'delete',
  ref: { resource: pods, namespace: pod.metadata.namespace ?? '', name: pod.metadata.name ?? '' },
  events: {
    regarding: owner,
    success: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
    failure: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
  },
});
