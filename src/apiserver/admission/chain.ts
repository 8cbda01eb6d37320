// The admission chain (k8s.io/apiserver/pkg/admission, pkg/kubeapiserver/options/plugins.go): which plugins run, in upstream's order.
import type { AdmissionPlugin } from '../registry/generic/admission.ts';
import type { PluginContext, PluginDefinition } from './plugin.ts';
import { plugins } from './plugins/index.ts';

/** The names of all plugins that upstream has, in the order in which they run. */
export const orderedPluginNames = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PodGroupProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'PodGroupWorkloadExists',
  'NodeDeclaredFeatureValidator',
  'JobValidation',
  'PodResizeValidator',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
] as const;

export type PluginName = (typeof orderedPluginNames)[number];

const isOnByDefault = (name: string): boolean => plugins.get(name)?.onByDefault ?? true;

export interface AdmissionSelection {
  /** `--enable-admission-plugins`: in addition to the default ones. */
  enable?: readonly string[];
  /** `--disable-admission-plugins`. */
  disable?: readonly string[];
}

/** Problems with the two flags, in upstream's words; empty when they are fine. */
export function selectionProblems({ enable = [], disable = [] }: AdmissionSelection): string[] {
  const known = new Set<string>(orderedPluginNames);
  const unknown = (flag: string, names: readonly string[]) =>
    names.filter((name) => !known.has(name)).map((name) => `${flag} plugin "${name}" is unknown`);
  const overlap = enable.filter((name) => disable.includes(name)).sort();
  return [
    ...unknown('enable-admission-plugins', enable),
    ...unknown('disable-admission-plugins', disable),
    ...(overlap.length > 0
      ? [`[${overlap.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
  ];
}

/** The names that run for a selection, in order. */
export const enabledPlugins = ({ enable = [], disable = [] }: AdmissionSelection): PluginName[] =>
  orderedPluginNames.filter((name) => enable.includes(name) || (isOnByDefault(name) && !disable.includes(name)));

/**
 * The plugins of a selection, in the order they run. `configurations`: the text of each plugin that has one. Throws an Error that names what is wrong
 * with the selection or with a configuration.
 */
export function createAdmission(
  selection: AdmissionSelection,
  context: PluginContext,
  configurations: ReadonlyMap<string, string> = new Map(),
): readonly AdmissionPlugin[] {
  const problems = selectionProblems(selection);
  if (problems.length > 0) throw new Error(problems.join(', '));
  const running: AdmissionPlugin[] = [];
  for (const name of enabledPlugins(selection)) {
    const plugin = plugins.get(name);
    if (plugin) running.push(configured(plugin, context, configurations.get(name)));
  }
  return running;
}

/** Rejects where a file that the configuration of a selected plugin names cannot be read, with an Error that names the plugin. */
export async function checkAdmissionFiles(
  selection: AdmissionSelection,
  configurations: ReadonlyMap<string, string>,
): Promise<void> {
  for (const name of enabledPlugins(selection)) {
    const configuration = configurations.get(name);
    if (configuration === undefined) continue;
    await plugins
      .get(name)
      ?.checkFiles?.(configuration)
      .catch((error: unknown) => {
        throw notMade(name, error);
      });
  }
}

const notMade = (name: string, error: unknown): Error =>
  new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${(error as Error).message}`, { cause: error });

function configured(
  { name, make }: PluginDefinition,
  context: PluginContext,
  configuration: string | undefined,
): AdmissionPlugin {
  try {
    return make(context, configuration);
  } catch (error) {
    throw notMade(name, error);
  }
}
