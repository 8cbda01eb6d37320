// Who may reach a load balancer: everybody from outside, ranges of addresses, or service tags of Azure. Pure.
import { type Service, sourceRangesAnnotation } from 'sagong/cloud-provider';
import { annotationsOf } from 'sagong/cloud-provider/kit';
import type { Family } from '../names.ts';
import { annotation, prefix } from './annotations.ts';
import { type Range, readRanges } from './ranges.ts';

export interface Access {
  /** Sources of rules of this family: ranges together in one rule, each tag in one of its own. */
  sources(family: Family): readonly (readonly string[])[];
  /** Whether all others, the own virtual network included, are to be kept out. */
  denyOthers: boolean;
}

/** The whole Internet is a service tag, too. */
const internet = 'Internet';

function rangesOf(service: Service): { source: Range[]; allowed: Range[] } {
  const { spec, metadata } = service;
  const inSpec = spec?.loadBalancerSourceRanges ?? [];
  const annotated = annotationsOf(service).list(sourceRangesAnnotation);
  const source =
    inSpec.length > 0
      ? readRanges(
          inSpec.map((one) => one.trim()),
          'spec.loadBalancerSourceRanges',
        )
      : readRanges(annotated, `annotation ${sourceRangesAnnotation}`);
  const allowed = readRanges(
    annotationsOf({ metadata }, prefix).list(annotation.ipRanges),
    `annotation ${prefix}${annotation.ipRanges}`,
  );
  return { source, allowed };
}

/**
 * The ranges from which a Service may be reached. Throws an Error for a text that is not a range, and when the field and the annotation are both set.
 */
export function accessOf(service: Service, internal: boolean): Access {
  const { source, allowed } = rangesOf(service);
  if (source.length > 0 && allowed.length > 0)
    throw new Error(`cannot set both spec.LoadBalancerSourceRanges and service annotation ${prefix}${annotation.ipRanges}`);
  const notes = annotationsOf(service, prefix);
  const tags = notes.list(annotation.serviceTags);
  const ranges = source.length > 0 ? source : allowed;
  const everybody = ranges.some(({ isAll }) => isAll);
  const limited = tags.length > 0 || (ranges.length > 0 && !everybody);
  // An internal load balancer is reached from its network only, unless somebody says «all».
  const fromInternet = !limited && !internal && !everybody;
  const all = fromInternet ? [...tags, internet] : tags;
  return {
    sources(family) {
      const cidrs = ranges.filter((one) => one.family === family).map(({ cidr }) => cidr);
      return [...all.map((one) => [one]), ...(cidrs.length > 0 ? [cidrs.toSorted()] : [])];
    },
    denyOthers: (notes.boolean(annotation.denyOthers) ?? false) && ranges.length > 0,
  };
}
