export * from './types.ts';
export { action, type ActionOf, type AnswerOf, question, type QuestionOf } from './named-work.ts';
export { controllerKey, ownKey } from './cache.ts';
export { Decisions, type DecisionRecord } from './decisions.ts';
export { startController, type ExecutorDeps, type RunningController } from './executor.ts';
export { type DiscoveredResource, type Discovery, readDiscovery, supports } from './discovery.ts';
export type { KubeClient } from '#client';
export { nodeMonitorPeriodMs } from './limits.ts';
