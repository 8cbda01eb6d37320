// The suite every provider passes. Public: `import { conformance } from 'sagong/cloud-provider/conformance'`.
export { persistent, type PersistentOptions } from './persistent.ts';
export { conformance, conformanceCases, type Runner } from './suite.ts';
export type {
  ConformanceCase,
  ConformanceCluster,
  ConformanceTarget,
  ConformanceWorld,
  OtherCluster,
  RuleByHand,
} from './target.ts';
export { withAnnotations } from './with-annotations.ts';
