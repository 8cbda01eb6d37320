// What a Node says of its route: the VPC, its route table and the rule, as upstream writes it; and, by its user, whether it wants one.
import type { Logger, Node } from 'sagong/cloud-provider';
import { annotationsOf, type ClusterWriter, statusReasonOf, textOf } from 'sagong/cloud-provider/kit';
import { nodeAnnotation } from '../annotations.ts';
import type { RouteRule } from '../api/types.ts';

/** Throws for a value that is no boolean. */
export const wantsRoute = (node: Node | undefined): boolean =>
  node === undefined || (annotationsOf(node).boolean(nodeAnnotation.advertise) ?? true);

export interface NodeNotesDeps {
  writer: Pick<ClusterWriter, 'client'>;
  logger: Logger;
}

/** A failure is only logged: the route is there. */
export async function noteRoute(
  { writer, logger }: NodeNotesDeps,
  name: string,
  node: Node | undefined,
  { routeTableId, routeRuleId, vpcId }: Pick<RouteRule, 'routeTableId' | 'routeRuleId'> & { vpcId: string },
): Promise<void> {
  const wanted: Record<string, string> = {
    [nodeAnnotation.vpcId]: vpcId,
    [nodeAnnotation.routeTableId]: routeTableId,
    [nodeAnnotation.routeRuleId]: routeRuleId,
  };
  const there = node?.metadata.annotations ?? {};
  if (Object.entries(wanted).every(([key, value]) => there[key] === value)) return;
  const patch = { type: 'application/merge-patch+json', body: { metadata: { annotations: wanted } } } as const;
  try {
    await writer.client()?.transport.call({ verb: 'patch', group: '', version: 'v1', resource: 'nodes', name, patch });
  } catch (error) {
    if (statusReasonOf(error) !== 'NotFound')
      logger.warn('could not note a route on its node', { node: name, error: textOf(error) });
  }
}
