// Admission control (https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/).
export {
  type AdmissionSelection,
  checkAdmissionFiles,
  createAdmission,
} from './chain.ts';
export { readAdmissionConfiguration } from './configuration.ts';
export { measuredChain, measuredPlugins } from './metrics.ts';
export { defaultPluginOptions, type PluginContext, type PluginOptions } from './plugin.ts';
export { chainOf } from '../registry/generic/admit.ts';
