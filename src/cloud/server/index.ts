// The cloud as a server.
export { type CloudConfig, parseCloudConfig } from './config-file.ts';
export { accountsOf, keepPort, keptPort, servingCertificate } from './credentials.ts';
export {
  type CloudAccount,
  type CloudDeps,
  type CloudOptions,
  defaultInstanceTypes,
  type DriverFactory,
  type NameServiceOptions,
  type NameServiceStart,
  type RunningCloud,
} from './options.ts';
export { startCloud } from './start.ts';
