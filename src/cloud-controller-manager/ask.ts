// What the loops ask the cloud, as questions of a plan. Pure.
import type { LoadBalancerStatus, Node, NodeAddress, Service } from '#api/core/v1';
import type { InstanceMetadata, Route } from '#cloud-provider';
import { type Answer, type Question, question, type QuestionOf, type ViewContext } from '#controller-runtime';

export const instanceMetadata = question<Node, InstanceMetadata | undefined>('instanceMetadata');
export const nodeAddresses = question<Node, NodeAddress[] | undefined>('nodeAddresses');
export const instanceExists = question<Node, boolean>('instanceExists');
export const instanceShutdown = question<Node, boolean>('instanceShutdown');
/** The question for the routes of a cluster, by its name. */
export const listRoutes = question<string, Route[]>('listRoutes');
export const getLoadBalancer = question<Service, LoadBalancerStatus | undefined>('getLoadBalancer');

/** What a view holds of the cloud. */
export interface CloudView {
  answers: ReadonlyMap<string, Answer>;
}

export const cloudView = ({ answers = new Map() }: ViewContext): CloudView => ({ answers });

/** A question about a Node: the UID tells it from another of its name. */
export const askNode = (asked: QuestionOf<Node, unknown>, node: Node): Question =>
  asked.about(node.metadata.uid ?? node.metadata.name ?? '', node);
