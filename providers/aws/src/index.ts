// The AWS cloud provider: `--cloud-provider=aws`, configured as cloud-provider-aws is.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { parseConfig } from './config/config.ts';
import { type AwsConfig, configSchema } from './config/schema.ts';
import { providerName } from './instances/provider-id.ts';
import { createProvider } from './provider.ts';
import { taggingFlags } from './tagging/options.ts';

export type { AwsConfig } from './config/schema.ts';

export default defineCloudProvider<AwsConfig>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  parseConfig,
  flags: taggingFlags,
  create: createProvider,
});
