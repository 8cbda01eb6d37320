// What a cloud provider is written against, and how one is found. Public: `import ... from 'sagong/cloud-provider'`.
export * from './types.ts';
export * from './errors.ts';
export * from './helpers.ts';
export * from './controller.ts';
export * from './flags.ts';
export { checkedProvider } from './checked.ts';
export { cloudProviderApiVersion, type CloudProviderDefinition, defineCloudProvider } from './define.ts';
export { ConfigError, type ConfigSchema, validateConfig } from './config-schema.ts';
export {
  CloudProviderLoadError,
  findCloudProvider,
  importVendorModule,
  loadCloudProvider,
  type LoadCloudProviderOptions,
  type LoadedCloudProvider,
  vendorPackages,
} from './load.ts';
