// The cloud as a server.
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
