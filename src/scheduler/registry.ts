// Every in-tree plugin and its place in the default profile (upstream plugins/registry.go, apis/config/v1/default_plugins.go).
import { plain, type PluginFactory, taking } from './framework/args.ts';
import { defaultBinder } from './plugins/default-binder/index.ts';
import { defaultPreemption } from './plugins/default-preemption/index.ts';
import { defaultPreemptionArgs } from './plugins/default-preemption/args.ts';
import { dynamicResources } from './plugins/dynamic-resources/index.ts';
import { imageLocality } from './plugins/image-locality/index.ts';
import { interPodAffinity } from './plugins/inter-pod-affinity/index.ts';
import { interPodAffinityArgs } from './plugins/inter-pod-affinity/args.ts';
import { nodeAffinity } from './plugins/node-affinity/index.ts';
import { nodeAffinityArgs } from './plugins/node-affinity/args.ts';
import { nodeName } from './plugins/node-name/index.ts';
import { nodePorts } from './plugins/node-ports/index.ts';
import { nodeResourcesBalancedAllocation } from './plugins/node-resources-balanced-allocation/index.ts';
import { nodeResourcesBalancedAllocationArgs } from './plugins/node-resources-balanced-allocation/args.ts';
import { nodeResourcesFit } from './plugins/node-resources-fit/index.ts';
import { nodeResourcesFitArgs } from './plugins/node-resources-fit/args.ts';
import { nodeUnschedulable } from './plugins/node-unschedulable/index.ts';
import { nodeVolumeLimits } from './plugins/node-volume-limits/index.ts';
import { podTopologySpread } from './plugins/pod-topology-spread/index.ts';
import { podTopologySpreadArgs } from './plugins/pod-topology-spread/args.ts';
import { prioritySort } from './plugins/priority-sort/index.ts';
import { schedulingGates } from './plugins/scheduling-gates/index.ts';
import { taintToleration } from './plugins/taint-toleration/index.ts';
import { volumeBinding } from './plugins/volume-binding/index.ts';
import { volumeBindingArgs } from './plugins/volume-binding/args.ts';
import { volumeRestrictions } from './plugins/volume-restrictions/index.ts';
import { volumeZone } from './plugins/volume-zone/index.ts';

/** Every plugin with the schema of its arguments, where it takes some. */
export const registry: Readonly<Record<string, PluginFactory>> = {
  SchedulingGates: plain(schedulingGates),
  PrioritySort: plain(prioritySort),
  NodeUnschedulable: plain(nodeUnschedulable),
  NodeName: plain(nodeName),
  TaintToleration: plain(taintToleration),
  NodeAffinity: taking(nodeAffinityArgs, nodeAffinity),
  NodePorts: plain(nodePorts),
  NodeResourcesFit: taking(nodeResourcesFitArgs, nodeResourcesFit),
  VolumeRestrictions: plain(volumeRestrictions),
  NodeVolumeLimits: plain(nodeVolumeLimits),
  VolumeBinding: taking(volumeBindingArgs, volumeBinding),
  VolumeZone: plain(volumeZone),
  PodTopologySpread: taking(podTopologySpreadArgs, podTopologySpread),
  InterPodAffinity: taking(interPodAffinityArgs, interPodAffinity),
  DynamicResources: plain(dynamicResources),
  DefaultPreemption: taking(defaultPreemptionArgs, defaultPreemption),
  NodeResourcesBalancedAllocation: taking(nodeResourcesBalancedAllocationArgs, nodeResourcesBalancedAllocation),
  ImageLocality: plain(imageLocality),
  DefaultBinder: plain(defaultBinder),
};

/** The default profile's plugins in order; a weight of 0 is the default of 1. */
export const defaultPlugins: readonly { name: string; weight?: number }[] = [
  { name: 'SchedulingGates' },
  { name: 'PrioritySort' },
  { name: 'NodeUnschedulable' },
  { name: 'NodeName' },
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeAffinity', weight: 2 },
  { name: 'NodePorts' },
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'VolumeRestrictions' },
  { name: 'NodeVolumeLimits' },
  { name: 'VolumeBinding' },
  { name: 'VolumeZone' },
  { name: 'PodTopologySpread', weight: 2 },
  { name: 'InterPodAffinity', weight: 2 },
  { name: 'DynamicResources', weight: 2 },
  { name: 'DefaultPreemption' },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  { name: 'ImageLocality', weight: 1 },
  { name: 'DefaultBinder' },
];
