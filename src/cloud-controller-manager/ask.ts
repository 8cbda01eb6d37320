// What the loops ask the cloud, as questions of a plan, and how they read the answers. Pure.
import type { Node } from '#api/core/v1';
import { type Answer, type Question, questionKey, type ViewContext } from '#controller-runtime';

export type CloudQuestion =
  | 'instanceMetadata'
  | 'nodeAddresses'
  | 'instanceExists'
  | 'instanceShutdown'
  | 'listRoutes'
  | 'getLoadBalancer';

/** What a view holds of the cloud. */
export interface CloudView {
  answers: ReadonlyMap<string, Answer>;
}

export const cloudView = ({ answers = new Map() }: ViewContext): CloudView => ({ answers });

export const ask = (name: CloudQuestion, about: string, input: unknown): Question => ({ name, about, input });

/** About a Node: the UID tells it from another of its name. */
export const askNode = (name: CloudQuestion, node: Node): Question =>
  ask(name, node.metadata.uid ?? node.metadata.name ?? '', node);

/** The answer to a question; undefined: it was not asked yet. The value is what the question's asker gives. */
export const answerTo = <T>({ answers }: CloudView, question: Question): { value: T } | { error: Error } | undefined =>
  answers.get(questionKey(question)) as { value: T } | { error: Error } | undefined;
