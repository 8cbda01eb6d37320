// Flags of upstream's kube-controller-manager that have nothing to do here, and why. docs/flags.md is made from these tables.
import type { UnservedRows } from '#component-base';

/** Flags that tune machinery which is not here. They are accepted with a warning. */
export const withoutEffect: UnservedRows = {
  'concurrent-service-syncs': ['int', 1, 'the loop of cloud load balancers runs in the cloud-controller-manager'],
  'controller-shutdown-timeout': ['duration', 10_000, 'loops end with their running step'],
  'log-text-info-buffer-size': ['string', '0', 'log lines are written at once'],
  'namespace-sync-period': ['duration', 300_000, 'namespaces are looked at when something in them changes'],
  'pvclaimbinder-sync-period': ['duration', 15_000, 'volumes and claims are looked at when they change'],
  'show-hidden-metrics-for-version': ['string', '', 'no metric is hidden here'],
};

/** Flags that ask for behaviour which is not here. They are refused at the start. */
export const refused: UnservedRows = {
  'allow-metric-labels': ['map', {}, 'values of metric labels cannot be limited'],
  'allow-metric-labels-manifest': ['string', '', 'values of metric labels cannot be limited'],
  'disabled-metrics': ['strings', [], 'single metrics cannot be switched off'],
  'enable-dynamic-provisioning': ['bool', true, 'volumes are made by CSI provisioners, which this loop always waits for'],
  'enable-garbage-collector': ['bool', true, 'exclude the loop with --controllers=*,-garbage-collector-controller instead'],
  'enable-hostpath-provisioner': ['bool', false, 'there is no provisioner of hostPath volumes'],
  'endpoint-updates-batch-period': ['duration', 0, 'changes of pods are not gathered before endpoints are written'],
  'endpointslice-updates-batch-period': ['duration', 0, 'changes of pods are not gathered before slices are written'],
  'flex-volume-plugin-dir': ['string', '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/', 'there are no FlexVolume plugins'],
  'horizontal-pod-autoscaler-cpu-initialization-period': ['duration', 300_000, 'the period is fixed'],
  'horizontal-pod-autoscaler-downscale-stabilization': [
    'duration',
    300_000,
    'the window is 5 minutes; set spec.behavior of the autoscaler instead',
  ],
  'horizontal-pod-autoscaler-initial-readiness-delay': ['duration', 30_000, 'the delay is fixed'],
  'horizontal-pod-autoscaler-tolerance': ['float', 0.1, 'the tolerance is 0.1; set spec.behavior of the autoscaler instead'],
  'log-text-split-stream': ['bool', false, 'all lines of the log go to standard error'],
  'max-endpoints-per-slice': ['int', 100, 'a slice holds 100 endpoints'],
  'mirroring-endpointslice-updates-batch-period': [
    'duration',
    0,
    'changes of endpoints are not gathered before slices are written',
  ],
  'mirroring-max-endpoints-per-subset': ['int', 1_000, 'a mirrored slice holds 1000 endpoints'],
  'pv-recycler-increment-timeout-nfs': ['int', 30, 'volumes are not recycled'],
  'pv-recycler-minimum-timeout-hostpath': ['int', 60, 'volumes are not recycled'],
  'pv-recycler-minimum-timeout-nfs': ['int', 300, 'volumes are not recycled'],
  'pv-recycler-pod-template-filepath-hostpath': ['string', '', 'volumes are not recycled'],
  'pv-recycler-pod-template-filepath-nfs': ['string', '', 'volumes are not recycled'],
  'pv-recycler-timeout-increment-hostpath': ['int', 30, 'volumes are not recycled'],
};
