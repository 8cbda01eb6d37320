// The cloud provider of Oracle Cloud Infrastructure. Equal in what it does to oci-cloud-controller-manager; README.md names what differs.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { type Config, configSchema } from './config/schema.ts';
import { providerName } from './names.ts';
import { createProvider } from './provider.ts';

export default defineCloudProvider<Config>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  create: (context) => createProvider(context, process.env),
});
