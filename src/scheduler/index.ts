// kube-scheduler: decides which node a new pod goes to. The pure half is `framework`, `plugins` and `cycle`; the rest carries decisions out.
export * from './app/index.ts';
export {
  ConfigurationError,
  parseConfiguration,
  type ProfileConfig,
  profilesOf,
  type SchedulerConfiguration,
} from './config/index.ts';
export {
  type Chosen,
  cycle,
  type CycleContext,
  type Decision,
  type DecisionTold,
  type Failed,
  type NodeScore,
  type NodeVerdict,
} from './cycle/index.ts';
export { type PodInfo, podInfoOf, type Profile, Snapshot } from './framework/index.ts';
export type { SchedulerDeps } from './shell/scheduler.ts';
