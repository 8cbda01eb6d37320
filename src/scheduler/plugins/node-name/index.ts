// A pod that names a node goes nowhere else (upstream plugins/nodename).
import { interest, type Plugin, unresolvable } from '../../framework/index.ts';

const name = 'NodeName';
const otherNode = unresolvable(name, "node(s) didn't match the requested node name");

export const nodeName = (): Plugin => ({
  name,
  local: true,
  events: [interest('Node', ['Add'])],
  filter(_state, node, { pod }) {
    const wanted = pod.pod.spec?.nodeName;
    return !wanted || wanted === node.name ? undefined : otherNode;
  },
});
