// What every component serves beside its work, over HTTPS: health, metrics and configuration, for clients that the apiserver authorizes.
export { Answers } from './answers.ts';
export { defaultDelegatedAuth, type ReviewClient } from './delegated-auth.ts';
export { type DelegatedAuthFlags, delegatedAuthFlags, type SecureServingFlags, secureServingFlags } from './flags.ts';
export { tokenLengthMax } from './limits.ts';
export {
  delegatedAuthOptions,
  keptCertificate,
  type SecureServingOptions,
  secureServingOptions,
  selfSignedCertificate,
  type TlsSettings,
  tlsSettings,
} from './options.ts';
export { type ComponentServerOptions, serveComponent } from './serve.ts';
