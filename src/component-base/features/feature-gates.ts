// Feature gates (k8s.io/component-base/featuregate): known names with stage and default, set by `--feature-gates=A=true,B=false`.
import { quote } from '#utils';

export type FeatureStage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';

export interface FeatureSpec {
  default: boolean;
  stage: FeatureStage;
  /** Setting it to anything but the default is an error. */
  lockToDefault?: boolean;
}

export interface FeatureGates {
  /** Asking for an unknown feature is a programmer error and throws. */
  enabled(name: string): boolean;
  /** Throws `FeatureGateError` and changes nothing when any entry is wrong. */
  set(values: ReadonlyMap<string, boolean>): void;
  /** Lines for `--help`, sorted: `Name=true|false (ALPHA - default=false)`. GA and deprecated ones are left out, as upstream does. */
  help(): string[];
  /** Every gate's current value. */
  values(): Map<string, boolean>;
  /** Only those that were set and so may differ from the default. */
  overrides(): Map<string, boolean>;
  spec(name: string): FeatureSpec | undefined;
}

export class FeatureGateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FeatureGateError';
  }
}

// Gates that switch a whole stage; an explicit setting of one feature wins over them.
const stageGates: Record<string, FeatureStage> = { AllAlpha: 'ALPHA', AllBeta: 'BETA' };

const trueWords = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseWords = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

/** Reads what Go's strconv.ParseBool reads; undefined where that would fail. */
export const parseBool = (text: string): boolean | undefined =>
  trueWords.has(text) ? true : falseWords.has(text) ? false : undefined;

/** Parses the value of `--feature-gates`. Throws `FeatureGateError` with upstream's text. */
export function parseFeatureGates(value: string): Map<string, boolean> {
  const gates = new Map<string, boolean>();
  for (const entry of value.split(',')) {
    if (entry === '') continue;
    const equals = entry.indexOf('=');
    const name = (equals < 0 ? entry : entry.slice(0, equals)).trim();
    if (equals < 0) throw new FeatureGateError(`missing bool value for ${name}`);
    const text = entry.slice(equals + 1).trim();
    const flag = parseBool(text);
    if (flag === undefined) {
      throw new FeatureGateError(
        `invalid value of ${name}=${text}, err: strconv.ParseBool: parsing ${quote(text)}: invalid syntax`,
      );
    }
    gates.set(name, flag);
  }
  return gates;
}

function checkSettable(known: ReadonlyMap<string, FeatureSpec>, name: string, value: boolean): void {
  const spec = known.get(name);
  if (spec === undefined) throw new FeatureGateError(`unrecognized feature gate: ${name}`);
  if (spec.lockToDefault && spec.default !== value) {
    throw new FeatureGateError(`cannot set feature gate ${name} to ${value}, feature is locked to ${spec.default}`);
  }
}

/** Gates over a table of known features; AllAlpha and AllBeta are always known. */
export function createFeatureGates(features: Readonly<Record<string, FeatureSpec>>): FeatureGates {
  const known = new Map<string, FeatureSpec>([
    ...Object.entries(stageGates).map(([name, stage]) => [name, { default: false, stage }] as const),
    ...Object.entries(features),
  ]);
  const chosen = new Map<string, boolean>();
  const current = (name: string, spec: FeatureSpec): boolean => {
    const explicit = chosen.get(name);
    if (explicit !== undefined) return explicit;
    const stageGate = spec.stage === 'ALPHA' ? 'AllAlpha' : spec.stage === 'BETA' ? 'AllBeta' : undefined;
    const byStage = stageGate === undefined || spec.lockToDefault ? undefined : chosen.get(stageGate);
    return byStage ?? spec.default;
  };
  return {
    enabled(name) {
      const spec = known.get(name);
      if (spec === undefined) throw new Error(`feature "${name}" is not registered in FeatureGates`);
      return current(name, spec);
    },
    set(values) {
      for (const [name, value] of values) checkSettable(known, name, value);
      for (const [name, value] of values) chosen.set(name, value);
    },
    help: () =>
      [...known]
        .filter(([, spec]) => spec.stage === 'ALPHA' || spec.stage === 'BETA')
        .map(([name, spec]) => `${name}=true|false (${spec.stage} - default=${spec.default})`)
        .sort(),
    values: () => new Map([...known].map(([name, spec]) => [name, current(name, spec)])),
    overrides: () => new Map(chosen),
    spec: (name) => known.get(name),
  };
}
