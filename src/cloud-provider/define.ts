// How a provider introduces itself: one value, the default export of its module.
import type { ConfigSchema } from './config-schema.ts';
import type { ProviderFlags } from './flags.ts';
import type { CloudProvider, CreateContext } from './types.ts';

/** The version of the interface that this package speaks. A provider of another one is refused by name. */
export const cloudProviderApiVersion = 'sagong.dev/cloud-provider/v1';

export interface CloudProviderDefinition<Config = unknown> {
  /** For `--cloud-provider`, and the scheme of provider IDs. Lower case letters, digits and dashes. */
  name: string;
  /** `cloudProviderApiVersion` of the package it was written for. */
  apiVersion: string;
  /** What `--cloud-config` may say. */
  configSchema: ConfigSchema;
  /** Reads the text of `--cloud-config`; '' without one. Default: YAML, of which JSON is a part. Throws with what is wrong. */
  parseConfig?(text: string): unknown;
  /** Flags of its own on the manager's command line; their values come with `create`. */
  flags?: ProviderFlags;
  /** Builds the provider. Makes no call to the cloud yet. Throws, or rejects, with what is wrong. */
  create(context: CreateContext<Config>): CloudProvider | Promise<CloudProvider>;
}

/** Declares a provider. Throws for a name that could not be asked for. */
export function defineCloudProvider<Config>(definition: CloudProviderDefinition<Config>): CloudProviderDefinition<Config> {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(definition.name) || definition.name === 'external')
    throw new Error(`a cloud provider cannot be named ${JSON.stringify(definition.name)}`);
  return definition;
}
