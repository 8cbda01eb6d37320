// The bandwidth of a load balancer. Pure.
import type { Service } from 'sagong/cloud-provider';
import { annotation, read } from '../annotations.ts';
import type { Balancer, ShapeDetails } from '../api/types.ts';
import { bandwidthMaxMbps, bandwidthMinMbps, defaultShape } from '../limits.ts';

export interface Shape {
  shapeName: string;
  shapeDetails?: ShapeDetails;
}

const flexible = 'flexible';

/** `100`, `100Mbps` or `100 mbps`. */
function megabits(service: Service, name: string): number | undefined {
  const text = read(service).text(name);
  if (text === undefined) return undefined;
  const number = Number(text.replace(/[^a-zA-Z0-9]/g, '').replace(/mbps$/i, ''));
  if (!Number.isInteger(number)) throw new Error(`invalid format for ${name} annotation : ${text}`);
  return Math.min(Math.max(number, bandwidthMinMbps), bandwidthMaxMbps);
}

/** The shape of the load balancer. One that its owner has made flexible elsewhere stays so, until the Service says something else. */
export function shapeOf(service: Service, there?: Pick<Balancer, 'shapeName' | 'shapeDetails'>): Shape {
  const isFlexible = there?.shapeName === flexible;
  const given = read(service).text(annotation.shape) ?? (isFlexible ? flexible : defaultShape);
  if (given.toLowerCase() !== flexible) {
    if (isFlexible) throw new Error(`cannot convert LB shape from flexible to fixed shape ${given}`);
    return { shapeName: given };
  }
  const known = isFlexible ? there.shapeDetails : undefined;
  const min = megabits(service, annotation.shapeMin) ?? known?.minimumBandwidthInMbps;
  const max = megabits(service, annotation.shapeMax) ?? known?.maximumBandwidthInMbps;
  if (min === undefined || max === undefined)
    throw new Error(
      `error parsing service annotation: ${annotation.shape}=flexible requires ${annotation.shapeMin} and ${annotation.shapeMax} to be set`,
    );
  const details = { minimumBandwidthInMbps: min, maximumBandwidthInMbps: Math.max(min, max) };
  return { shapeName: flexible, shapeDetails: details };
}

export const shapeDiffers = (there: Pick<Balancer, 'shapeName' | 'shapeDetails'>, wanted: Shape): boolean =>
  there.shapeName?.toLowerCase() !== wanted.shapeName.toLowerCase() ||
  there.shapeDetails?.minimumBandwidthInMbps !== wanted.shapeDetails?.minimumBandwidthInMbps ||
  there.shapeDetails?.maximumBandwidthInMbps !== wanted.shapeDetails?.maximumBandwidthInMbps;
