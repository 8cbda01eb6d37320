// The room's feature gates; reached through #component-base.
export {
  createFeatureGates,
  FeatureGateError,
  type FeatureGates,
  type FeatureSpec,
  type FeatureStage,
  parseBool,
  parseFeatureGates,
} from './feature-gates.ts';
export { checkFixedGates, libraryFeatures } from './fixed.ts';
export { knownFeatures } from './known.gen.ts';
