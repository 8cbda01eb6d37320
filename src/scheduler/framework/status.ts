// What a plugin says about a pod or a node when it is not simply "yes" (k8s.io/kube-scheduler/framework Status). Success is `undefined`.

/** `Unschedulable`: taking pods away may help. `UnschedulableAndUnresolvable`: it will not. `Pending`: something else has to act first. */
export type StatusCode = 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Error';

export interface Status {
  readonly plugin: string;
  readonly code: StatusCode;
  readonly reasons: readonly string[];
}

/** Plugins keep the statuses they give often as constants: equal verdicts are then the same object. */
export const unschedulable = (plugin: string, ...reasons: string[]): Status => ({ plugin, code: 'Unschedulable', reasons });

export const unresolvable = (plugin: string, ...reasons: string[]): Status => ({
  plugin,
  code: 'UnschedulableAndUnresolvable',
  reasons,
});

export const failed = (plugin: string, message: string): Status => ({ plugin, code: 'Error', reasons: [message] });

/** Anything but an error: the pod waits for the cluster to change. */
export const isRejected = (status: Status): boolean => status.code !== 'Error';

export const statusMessage = (status: Status): string => status.reasons.join(', ');
