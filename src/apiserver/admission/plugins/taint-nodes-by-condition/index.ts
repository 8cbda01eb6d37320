// TaintNodesByCondition: a new node takes no pods until it is ready (plugin/pkg/admission/nodetaint).
import type { Node } from '#api/core/v1';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const notReady = 'node.kubernetes.io/not-ready';

export const taintNodesByCondition: PluginFactory = () => ({
  name: 'TaintNodesByCondition',
  handles: handling('CREATE'),
  admit(request) {
    if (!isFor(request, '', 'nodes')) return;
    const node = request.object as Node;
    const spec = (node.spec ??= {});
    if (spec.taints?.some((taint) => taint.key === notReady && taint.effect === 'NoSchedule')) return;
    spec.taints = [...(spec.taints ?? []), { key: notReady, effect: 'NoSchedule' }];
  },
});

export const plugin = definePlugin('TaintNodesByCondition', taintNodesByCondition);
