// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), the part that this scheduler reads.

export interface PluginEntry {
  name: string;
  /** Only for score plugins; 0 or absent means the default. */
  weight?: number;
}

export interface PluginSet {
  enabled?: PluginEntry[];
  /** A name of `*` turns off all default plugins of the extension point. */
  disabled?: PluginEntry[];
}

export const extensionPoints = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const;

export type ExtensionPoint = (typeof extensionPoints)[number];
export type PluginsConfig = { multiPoint?: PluginSet } & Partial<Record<ExtensionPoint, PluginSet>>;

export interface ProfileConfig {
  schedulerName?: string;
  percentageOfNodesToScore?: number;
  plugins?: PluginsConfig;
  pluginConfig?: { name: string; args?: Record<string, unknown> }[];
}

export interface SchedulerConfiguration {
  apiVersion?: string;
  kind?: string;
  parallelism?: number;
  leaderElection?: {
    leaderElect?: boolean;
    leaseDuration?: string;
    renewDeadline?: string;
    retryPeriod?: string;
    resourceLock?: string;
    resourceName?: string;
    resourceNamespace?: string;
  };
  clientConnection?: { kubeconfig?: string; qps?: number; burst?: number; contentType?: string; acceptContentTypes?: string };
  percentageOfNodesToScore?: number;
  podInitialBackoffSeconds?: number;
  podMaxBackoffSeconds?: number;
  profiles?: ProfileConfig[];
  extenders?: unknown[];
  enableProfiling?: boolean;
  enableContentionProfiling?: boolean;
  delayCacheUntilActive?: boolean;
}

/** A configuration that cannot be used. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigurationError';
  }
}
