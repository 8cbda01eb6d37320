// The resources that workload controllers deal in.
import type { GroupVersionResource } from '#apimachinery/meta';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
const apps = (resource: string): GroupVersionResource => ({ group: 'apps', version: 'v1', resource });

export const pods = core('pods');
export const nodes = core('nodes');
export const services = core('services');
export const endpoints = core('endpoints');
export const persistentVolumeClaims = core('persistentvolumeclaims');
export const replicationControllers = core('replicationcontrollers');
export const replicaSets = apps('replicasets');
export const deployments = apps('deployments');
export const daemonSets = apps('daemonsets');
export const statefulSets = apps('statefulsets');
export const controllerRevisions = apps('controllerrevisions');
export const jobs: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'jobs' };
export const cronJobs: GroupVersionResource = { group: 'batch', version: 'v1', resource: 'cronjobs' };
export const endpointSlices: GroupVersionResource = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };
