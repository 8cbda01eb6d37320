// PodTopologyLabels: pods get zone and region of their node (plugin/pkg/admission/podtopologylabels).
import type { Binding, Node, Pod } from '#api/core/v1';
import { asKind } from '#apimachinery/meta';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const topologyLabels = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

export const podTopologyLabels: PluginFactory = ({ cluster }) => {
  const copy = (nodeName: string, object: { metadata: Pod['metadata'] }): void => {
    const labels = cluster.get<Node>('', 'nodes', '', nodeName)?.metadata.labels;
    for (const key of topologyLabels) {
      const value = labels?.[key];
      if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [key]: value };
    }
  };
  return {
    name: 'PodTopologyLabels',
    handles: handling('CREATE', 'UPDATE'),
    admit(request) {
      if (isFor(request, '', 'pods')) {
        const pod = request.object as Pod;
        if (pod.spec?.nodeName) copy(pod.spec.nodeName, pod);
      } else if (isFor(request, '', 'pods', 'binding')) {
        const binding = asKind<Binding>(request.object);
        if (binding.target.kind === 'Node' && binding.target.name) copy(binding.target.name, binding);
      }
    },
  };
};

export const plugin = definePlugin('PodTopologyLabels', podTopologyLabels);
