// The Nodes a Service wants behind its load balancer, by labels. Pure.
import type { Node, Service } from 'sagong/cloud-provider';
import { annotation, annotationsOf, pairsIn } from '../annotations.ts';

/** The Nodes that have all labels of the annotation; a label without a value must only be there. */
export function targetNodes(service: Service, nodes: readonly Node[]): Node[] {
  const wanted = Object.entries(pairsIn(annotationsOf(service)[annotation.targetNodeLabels]));
  return nodes.filter(({ metadata }) =>
    wanted.every(([key, value]) => {
      const actual = metadata.labels?.[key];
      return actual !== undefined && (value === '' || actual === value);
    }),
  );
}
