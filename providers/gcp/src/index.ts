// The cloud provider of Google Cloud. Equal in what it does to cloud-provider-gcp's provider gce; README.md names what differs.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { parseConfig } from './config/config.ts';
import { flags } from './config/flags.ts';
import { type GceConfig, globalSchema } from './config/schema.ts';
import { providerName } from './names.ts';
import { createProvider } from './provider.ts';

export default defineCloudProvider<GceConfig>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema: globalSchema,
  parseConfig,
  flags,
  create: (context) => createProvider(context),
});
