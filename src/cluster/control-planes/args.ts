// The flags of components on control-plane machines that follow from a cluster's settings, a user's last.
import type { ComponentArgs } from '../flags/component-args.ts';
import type { ClusterSettings } from '../state/settings.ts';

/** Flags that every machine of the control plane gets, also those that join later. */
export function planeArgs({ metrics, componentArgs = {} }: Pick<ClusterSettings, 'metrics' | 'componentArgs'>): ComponentArgs {
  if (metrics !== 'none') return componentArgs;
  return {
    ...componentArgs,
    'kube-apiserver': ['--metrics-from-kubelets=false', ...(componentArgs['kube-apiserver'] ?? [])],
  };
}
