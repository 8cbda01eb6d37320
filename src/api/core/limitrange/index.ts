// Limit ranges (core/v1; pkg/registry/core/limitrange).
import type { LimitRange, LimitRangeItem } from '#api/core/v1';
import { own } from '#utils';
import { type ResourceList, roundUpResourceList } from '../../common/quantities.ts';
import { defineKind } from '../../kind.ts';
import { validateLimitRange } from './validation.ts';

const fill = (list: ResourceList, from: ResourceList | undefined): void => {
  for (const name in from) if (own(list, name) === undefined) list[name] = from[name] ?? '0';
};

/** Limits of containers default to the largest allowed, requests to the limits or the smallest allowed. */
function itemDefaults(item: LimitRangeItem): void {
  if (item.type === 'Container') {
    const limits = (item.default ??= {});
    const requests = (item.defaultRequest ??= {});
    fill(limits, item.max);
    fill(requests, limits);
    fill(requests, item.min);
  }
  for (const list of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio])
    roundUpResourceList(list);
}

export const limitRange = defineKind<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  metadataRules: 'whole',
  generation: false,
  defaults: ({ spec }) => spec?.limits?.forEach(itemDefaults),
  prepareForCreate({ metadata }) {
    // One without a name gets one that nobody else has.
    if (metadata.uid) metadata.name ||= metadata.uid;
  },
  validate: validateLimitRange,
  validateUpdate: validateLimitRange,
  allowCreateOnUpdate: true,
});
