// kube-scheduler as a program: flags, options, and the running component made from them.
export { type KubeSchedulerFlags, kubeSchedulerFlags } from './flags.ts';
export { configurationOf, defaultOptions, type KubeSchedulerOptions, optionsFromFlags } from './options.ts';
export { type KubeScheduler, runKubeScheduler } from './run.ts';
