// The cloud provider of Microsoft Azure. Equal in what it does to cloud-provider-azure; README.md names what differs.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { configSchema } from './config/config.ts';
import { providerName } from './names.ts';
import { createProvider } from './provider.ts';

export default defineCloudProvider<unknown>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  create: (context) => createProvider(context),
});
