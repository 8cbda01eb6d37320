// One scheduler profile: plugins by extension point, in order (upstream scheduler runtime.Framework).
import type { Plugin } from './plugin.ts';

export interface WeightedPlugin {
  readonly plugin: Plugin;
  readonly weight: number;
}

export interface Profile {
  readonly schedulerName: string;
  readonly preEnqueue: readonly Plugin[];
  readonly queueSort: Plugin;
  readonly preFilter: readonly Plugin[];
  readonly filter: readonly Plugin[];
  readonly postFilter: readonly Plugin[];
  readonly preScore: readonly Plugin[];
  readonly score: readonly WeightedPlugin[];
  readonly permit: readonly Plugin[];
  readonly preBind: readonly Plugin[];
  readonly bind: readonly Plugin[];
}
