// The plugins that are built, by upstream's name. One that is on by default and absent here has nothing to do in this server: its kinds
// are not served by default (PodGroupProtection, PodGroupWorkloadExists, JobValidation, ClusterTrustBundleAttest).
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import type { PluginFactory } from './plugin.ts';

export const plugins: Readonly<Record<string, PluginFactory[] | undefined>> = {
  NamespaceLifecycle: [namespaceLifecycle],
};
