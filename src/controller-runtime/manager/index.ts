// What kube-controller-manager and cloud-controller-manager have in common (k8s.io/controller-manager): flags, the choice of loops, loops that
// run under a lease, or under two while they migrate between managers (KEP-2436).
export {
  genericConfigz,
  type GenericManagerFlags,
  genericManagerFlags,
  kubeCloudSharedConfigz,
  type KubeCloudSharedFlags,
  kubeCloudSharedFlags,
  leaderElectionConfigz,
} from './flags.ts';
export { type Leading, type LeadingDeps, type LeadingOptions, type LeadingWork, runLeading, untilAborted } from './leading.ts';
export { ControllerSet, type ControllerSetDeps } from './controller-set.ts';
export { type Named, selectControllers } from './select.ts';
