// What a Service wants of its public address (cloud-provider-baiducloud load_balancer_eip.go, getEipArgsFromAnnotation). Pure.
import { isIPv4 } from 'node:net';
import type { Service } from 'sagong/cloud-provider';
import { annotation, read } from '../annotations.ts';
import type { EipRequest } from '../api/types.ts';
import { bandwidthMbpsMax, nameCharactersMax, reservationMonths, trafficMbpsMax } from '../limits.ts';

export interface EipPlan {
  /** The address that the user has bought and names in the Service: it is bound, and never released. */
  own?: string;
  request: Omit<EipRequest, 'tags'>;
  /** What the Service itself says; the rest stays as it is. */
  given: { payment?: string; billing?: string; bandwidth?: number };
}

const payments = ['Prepaid', 'Postpaid'] as const;
const billings = ['ByTraffic', 'ByBandwidth'] as const;

export function eipPlan(balancerName: string, service: Service): EipPlan {
  const reader = read(service);
  const payment = reader.oneOf(annotation.payment, payments);
  const billing = reader.oneOf(annotation.billing, billings);
  const isPrepaid = payment === 'Prepaid';
  if (isPrepaid && billing !== undefined)
    throw new Error(`annotation ${annotation.billing}: when using Prepaid EIP, do not need to set ElasticIPBillingMethod`);
  const max = isPrepaid || billing === 'ByBandwidth' ? bandwidthMbpsMax : trafficMbpsMax;
  const bandwidth = reader.integer(annotation.bandwidth, { min: 1, max });
  const months = reader.integer(annotation.reservation);
  if (isPrepaid && !reservationMonths.includes(months ?? 0))
    throw new Error(
      `annotation ${annotation.reservation}: prepaid EIP reservationLength should in [${reservationMonths.join(',')}]`,
    );
  if (!isPrepaid && months !== undefined)
    throw new Error(`annotation ${annotation.reservation} goes with ${annotation.payment}: Prepaid only`);
  const own = service.spec?.loadBalancerIP || undefined;
  if (own !== undefined && !isIPv4(own)) throw new Error(`spec.loadBalancerIP: ${JSON.stringify(own)} is not an IPv4 address`);
  const billingOf = isPrepaid
    ? {
        paymentTiming: 'Prepaid',
        reservation: { reservationLength: months ?? 1, reservationTimeUnit: 'Month' as const },
      }
    : { paymentTiming: 'Postpaid', billingMethod: billing ?? 'ByTraffic' };
  return {
    ...(own !== undefined && { own }),
    request: {
      name: (reader.text(annotation.eipName) ?? balancerName).slice(0, nameCharactersMax),
      bandwidthInMbps: bandwidth ?? max,
      billing: billingOf,
    },
    given: { ...(payment && { payment }), ...(billing && { billing }), ...(bandwidth !== undefined && { bandwidth }) },
  };
}
