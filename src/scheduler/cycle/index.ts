// The pure scheduling algorithm.
export { cycle, type CycleContext } from './cycle.ts';
export { type DecisionTold, decisionTold } from './told.ts';
export type { Chosen, Decision, Failed, NodeScore, NodeVerdict } from './decision.ts';
