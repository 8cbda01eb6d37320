// The cloud provider of DigitalOcean. Equal in what it does to digitalocean-cloud-controller-manager; README.md names what differs.
import { cloudProviderApiVersion, defineCloudProvider } from 'sagong/cloud-provider';
import { createCloud } from './cloud.ts';
import { type Config, configSchema, settingsFrom } from './config.ts';
import { providerName } from './droplets.ts';

export default defineCloudProvider<Config>({
  name: providerName,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  create: ({ config, ...deps }) => createCloud(settingsFrom(config, process.env), deps),
});
