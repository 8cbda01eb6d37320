// The cloud provider of Linode (Akamai Cloud). Equal in what it does to linode-cloud-controller-manager; README.md names what differs.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { flags } from './config/flags.ts';
import { type Config, configSchema } from './config/schema.ts';
import { providerName } from './names.ts';
import { createProvider } from './provider.ts';

export default defineCloudProvider<Config>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  flags,
  create: (context) => createProvider(context, process.env),
});
