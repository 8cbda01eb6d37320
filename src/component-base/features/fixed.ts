// Feature gates of a component that is built for one set of features: those of upstream at their defaults.
import { createFeatureGates, FeatureGateError, type FeatureSpec } from './feature-gates.ts';
import { knownFeatures } from './known.gen.ts';

/** Gates of upstream's component libraries, beside those of the API server's and the clients'. */
export const libraryFeatures: Readonly<Record<string, FeatureSpec>> = {
  ContextualLogging: { default: true, stage: 'BETA' },
  ControllerManagerReleaseLeaderElectionLockOnExit: { default: false, stage: 'ALPHA' },
  LoggingAlphaOptions: { default: false, stage: 'ALPHA' },
  LoggingBetaOptions: { default: true, stage: 'BETA' },
  NativeHistograms: { default: false, stage: 'ALPHA' },
};

/** Throws `FeatureGateError` for gates that upstream does not know, and for those that would have to change. */
export function checkFixedGates(values: Readonly<Record<string, boolean>>): void {
  const gates = createFeatureGates({ ...knownFeatures, ...libraryFeatures });
  gates.set(new Map(Object.entries(values)));
  for (const [name, value] of Object.entries(values)) {
    const usual = gates.spec(name)?.default;
    if (usual !== value)
      throw new FeatureGateError(`cannot set feature gate ${name} to ${value}, it cannot be switched and is ${String(usual)}`);
  }
}
