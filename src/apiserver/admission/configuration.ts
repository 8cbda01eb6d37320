// The file of --admission-control-config-file (apiserver.config.k8s.io, AdmissionConfiguration): what each plugin is configured with, in the file itself or
// in one that it names (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/).
import { parseYaml } from '#apimachinery/codec';
import { type Fields, readConfiguration } from '../configuration/index.ts';
import { folderOf, pathBeside, readText } from '../platform/files.ts';

const fields = { plugins: { list: { name: 'string', path: 'string', configuration: 'any' } } } as const satisfies Fields;

/** Plugins whose configuration upstream reads and this server does not. */
const unread: Readonly<Record<string, string>> = {
  MutatingAdmissionWebhook: 'credentials for webhooks are not read; a webhook sees the certificate of the aggregator',
  ValidatingAdmissionWebhook: 'credentials for webhooks are not read; a webhook sees the certificate of the aggregator',
  ResourceQuota: 'limited resources are not read; quotas hold where a ResourceQuota stands',
};

/** Files of the time before AdmissionConfiguration that are of one plugin and have no kind. */
const legacy: Readonly<Record<string, string>> = {
  podNodeSelectorPluginConfig: 'PodNodeSelector',
  imagePolicy: 'ImagePolicyWebhook',
};

/** The text of each plugin's configuration by the plugin's name. Rejects with an Error that says what is wrong with the file. */
export async function readAdmissionConfiguration(path: string): Promise<Map<string, string>> {
  const text = await readText(path).catch((error: Error) => {
    throw new Error(`unable to read admission control configuration from ${JSON.stringify(path)} [${error.message}]`);
  });
  const { value } = parseYaml(text);
  const names = typeof value === 'object' && value !== null && !('kind' in value) ? Object.keys(value) : [];
  const [old] = names.flatMap((name) => (Object.hasOwn(legacy, name) ? [legacy[name] as string] : []));
  if (old) return new Map([[old, text]]);
  const { plugins = [] } = readConfiguration(text, { kind: 'AdmissionConfiguration', versions: ['v1', 'v1alpha1'], fields });
  const texts = new Map<string, string>();
  for (const { name = '', path: file = '', configuration } of plugins) {
    if (texts.has(name)) continue;
    if (configuration === undefined && file === '') continue;
    const why = Object.hasOwn(unread, name) ? unread[name] : undefined;
    if (why) throw new Error(`admission plugin ${JSON.stringify(name)} takes no configuration in this server: ${why}`);
    const own = configuration === undefined ? await readText(pathBeside(folderOf(path), file)) : JSON.stringify(configuration);
    texts.set(name, own);
  }
  return texts;
}
