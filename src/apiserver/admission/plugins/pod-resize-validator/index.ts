// PodResizeValidator: an in-place resize must fit the node the pod is on (KEP-1287, plugin/pkg/admission/podresize).
import type { Node, Pod } from '#api/core/v1';
import { type Quantity, parseQuantity, zeroQuantity } from '#apimachinery/quantity';
import { podRequests } from '#component-helpers/pod';
import { own, quote } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

function refuse(request: AdmissionRequest, why: string, reason: string) {
  const error = deny(request, why);
  const details = (error.status.details ??= {});
  details.causes = [...(details.causes ?? []), { reason }];
  return error;
}

function shortages(pod: Pod, node: Node): string[] {
  const requests = podRequests(pod);
  const counted: [string, (amount: Quantity) => number][] = [
    ['cpu', (amount) => amount.milliValue()],
    ['memory', (amount) => amount.value()],
  ];
  return counted.flatMap(([name, count]) => {
    const requested = requests.get(name) ?? zeroQuantity;
    const allocatable = parseQuantity(own(node.status?.allocatable ?? {}, name) ?? '0');
    return requested.compare(allocatable) > 0
      ? [`${name}, requested: ${count(requested)}, allocatable: ${count(allocatable)}`]
      : [];
  });
}

export const podResizeValidator: PluginFactory = ({ cluster }) => ({
  name: 'PodResizeValidator',
  handles: handling('UPDATE'),
  validate(request) {
    if (!isFor(request, '', 'pods', 'resize')) return;
    const pod = request.object as Pod;
    const old = request.oldObject as Pod;
    const nodeName = pod.spec?.nodeName;
    if (!nodeName || old.metadata.generation === pod.metadata.generation) return;
    const node = cluster.get<Node>('', 'nodes', '', nodeName);
    if (!node) throw deny(request, `node ${quote(nodeName)} not found`);
    const os = node.metadata.labels?.['kubernetes.io/os'] ?? 'linux';
    if (os !== 'linux') {
      const why = `pod resize is only supported on linux nodes, node ${quote(nodeName)} is ${quote(os)}`;
      throw refuse(request, why, 'UnsupportedPlatform');
    }
    const missing = shortages(pod, node);
    if (missing.length > 0) {
      throw refuse(request, `node didn't have enough allocatable resources: ${missing.join('; ')}`, 'NodeCapacity');
    }
  },
});

export const plugin = definePlugin('PodResizeValidator', podResizeValidator);
