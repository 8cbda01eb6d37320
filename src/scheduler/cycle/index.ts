// The pure scheduling algorithm.
export { cycle, type CycleContext } from './cycle.ts';
export type { Chosen, Decision, Failed, NodeScore, NodeVerdict } from './decision.ts';
