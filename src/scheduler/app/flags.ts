// Flags of kube-scheduler with upstream's names and defaults
// (https://kubernetes.io/docs/reference/command-line-tools-reference/kube-scheduler/).
import {
  defaultLeaderElection,
  fixedFeatureGateFlags,
  flag,
  flagsWithoutEffect,
  leaderElectionFlags,
  loggingFlags,
  refusedFlags,
  versionFlags,
} from '#component-base';
import { delegatedAuthFlags, secureServingFlags } from '#component-base/serving';
import { unschedulableTimeoutMs } from '../limits.ts';
import { refused, withoutEffect } from './unserved-flags.ts';

const misc = {
  config: flag.string({ name: 'config', default: '', help: 'Configuration file (KubeSchedulerConfiguration).', section: 'Misc' }),
  master: flag.string({
    name: 'master',
    default: '',
    help: 'Address of the apiserver; wins over the kubeconfig.',
    section: 'Misc',
  }),
  writeConfigTo: flag.string({
    name: 'write-config-to',
    default: '',
    help: 'Write the configuration with all defaults to this file and exit.',
    section: 'Misc',
  }),
};

const deprecated = {
  kubeconfig: flag.string({
    name: 'kubeconfig',
    default: '',
    help: 'File that says how to reach the apiserver.',
    section: 'Deprecated',
  }),
  kubeApiQps: flag.float({
    name: 'kube-api-qps',
    default: 50,
    help: 'Requests per second to the apiserver.',
    section: 'Deprecated',
    noEffect: 'requests are not limited here',
  }),
  kubeApiBurst: flag.int({
    name: 'kube-api-burst',
    default: 100,
    help: 'Requests at once to the apiserver.',
    section: 'Deprecated',
    noEffect: 'requests are not limited here',
  }),
  podMaxInUnschedulablePodsDurationMs: flag.duration({
    name: 'pod-max-in-unschedulable-pods-duration',
    default: unschedulableTimeoutMs,
    help: 'A pod that nothing moved is tried again after this long.',
    section: 'Deprecated',
  }),
  profiling: flag.bool({ name: 'profiling', default: true, help: 'Serve profiling at /debug/pprof/.', section: 'Deprecated' }),
};

/** The flag table; `parseFlags` of #component-base reads command lines with it. */
export const kubeSchedulerFlags = () => ({
  ...misc,
  ...secureServingFlags({ port: 10_259 }),
  ...delegatedAuthFlags({ tolerateLookupFailure: true }),
  ...deprecated,
  ...leaderElectionFlags(defaultLeaderElection('kube-scheduler')),
  ...loggingFlags(),
  ...fixedFeatureGateFlags(),
  ...versionFlags(),
  ...flagsWithoutEffect(withoutEffect),
  ...refusedFlags(refused),
});

export type KubeSchedulerFlags = ReturnType<typeof kubeSchedulerFlags>;
