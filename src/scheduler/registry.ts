// Every in-tree plugin and its place in the default profile (upstream plugins/registry.go, apis/config/v1/default_plugins.go).
import type { Plugin } from './framework/index.ts';
import { defaultBinder } from './plugins/default-binder/index.ts';
import { defaultPreemption, type DefaultPreemptionArgs } from './plugins/default-preemption/index.ts';
import { dynamicResources } from './plugins/dynamic-resources/index.ts';
import { imageLocality } from './plugins/image-locality/index.ts';
import { interPodAffinity, type InterPodAffinityArgs } from './plugins/inter-pod-affinity/index.ts';
import { nodeAffinity, type NodeAffinityArgs } from './plugins/node-affinity/index.ts';
import { nodeName } from './plugins/node-name/index.ts';
import { nodePorts } from './plugins/node-ports/index.ts';
import {
  nodeResourcesBalancedAllocation,
  type NodeResourcesBalancedAllocationArgs,
} from './plugins/node-resources-balanced-allocation/index.ts';
import { nodeResourcesFit, type NodeResourcesFitArgs } from './plugins/node-resources-fit/index.ts';
import { nodeUnschedulable } from './plugins/node-unschedulable/index.ts';
import { nodeVolumeLimits } from './plugins/node-volume-limits/index.ts';
import { podTopologySpread, type PodTopologySpreadArgs } from './plugins/pod-topology-spread/index.ts';
import { prioritySort } from './plugins/priority-sort/index.ts';
import { schedulingGates } from './plugins/scheduling-gates/index.ts';
import { taintToleration } from './plugins/taint-toleration/index.ts';
import { volumeBinding, type VolumeBindingArgs } from './plugins/volume-binding/index.ts';
import { volumeRestrictions } from './plugins/volume-restrictions/index.ts';
import { volumeZone } from './plugins/volume-zone/index.ts';

export type PluginFactory = (args: unknown) => Plugin;

// Arguments were checked against the plugin's type when the configuration was read.
export const registry: Readonly<Record<string, PluginFactory>> = {
  SchedulingGates: schedulingGates,
  PrioritySort: prioritySort,
  NodeUnschedulable: nodeUnschedulable,
  NodeName: nodeName,
  TaintToleration: taintToleration,
  NodeAffinity: (args) => nodeAffinity(args as NodeAffinityArgs),
  NodePorts: nodePorts,
  NodeResourcesFit: (args) => nodeResourcesFit(args as NodeResourcesFitArgs),
  VolumeRestrictions: volumeRestrictions,
  NodeVolumeLimits: nodeVolumeLimits,
  VolumeBinding: (args) => volumeBinding(args as VolumeBindingArgs),
  VolumeZone: volumeZone,
  PodTopologySpread: (args) => podTopologySpread(args as PodTopologySpreadArgs),
  InterPodAffinity: (args) => interPodAffinity(args as InterPodAffinityArgs),
  DynamicResources: dynamicResources,
  DefaultPreemption: (args) => defaultPreemption(args as DefaultPreemptionArgs),
  NodeResourcesBalancedAllocation: (args) => nodeResourcesBalancedAllocation(args as NodeResourcesBalancedAllocationArgs),
  ImageLocality: imageLocality,
  DefaultBinder: defaultBinder,
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
