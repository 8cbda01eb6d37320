// What kube-controller-manager and cloud-controller-manager have in common (k8s.io/controller-manager): flags, the choice of loops, loops that
// run under a lease, or under two while they migrate between managers (KEP-2436).
export { genericConfigz, genericManagerFlags, kubeCloudSharedConfigz, kubeCloudSharedFlags } from './flags.ts';
export { type Leading, runLeading, untilAborted } from './leading.ts';
export { ControllerSet } from './controller-set.ts';
export { selectControllers } from './select.ts';
