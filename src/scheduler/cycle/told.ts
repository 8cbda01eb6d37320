// A decision as people read it: where the pod went or why nowhere, and what each node was worth. Pure.
import type { Decision } from './decision.ts';

export interface DecisionTold {
  outcome: string;
  nodes: { node: string; verdict: string }[];
}

export function decisionTold(decision: Decision): DecisionTold {
  if (decision.kind === 'failed')
    return {
      outcome: decision.message,
      nodes: decision.verdicts.map(({ node, status }) => ({ node, verdict: status ? status.reasons.join(', ') : 'would do' })),
    };
  return {
    outcome: `placed on ${decision.node.name}`,
    nodes: decision.scores.map(({ node, total, plugins }) => ({
      node,
      verdict: `score ${total} (${Object.entries(plugins)
        .map(([plugin, score]) => `${plugin} ${score}`)
        .join(', ')})`,
    })),
  };
}
