// kube-apiserver as a program: flags, options, and the server made from them.
export { type KubeApiServerFlags, kubeApiServerFlags } from './flags.ts';
export {
  type CertificatePair,
  defaultOptions,
  type KubeApiServerOptions,
  optionsFromFlags,
  requestHeaderTrust,
  type RequestHeaderTrust,
  type StoreLocation,
} from './options.ts';
export { loadAuditPolicy } from '../audit/index.ts';
export { checkEncryptionFile } from '../encryption/index.ts';
export type { NodeStatsShortcut } from '../registry/metrics/index.ts';
export { checkNamedFiles } from './named-files.ts';
export type { RequestGate } from './doors.ts';
export { type KubeApiServer, type KubeApiServerDeps, runKubeApiServer } from './run.ts';
