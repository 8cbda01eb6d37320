import { describe, expect, it } from 'vitest';
import { clusterId, serviceWith } from '../../test-server/world.ts';
import { balancerPlan, givenId } from './plan.ts';

const refusal = (annotations: Record<string, string>, spec = {}): string => {
  try {
    balancerPlan(clusterId, serviceWith(annotations, spec));
    givenId(serviceWith(annotations, spec));
    return 'nothing';
  } catch (error) {
    return (error as Error).message;
  }
};
const lb = (name: string, value: string) => ({ [`cce-load-balancer-${name}`]: value });
const eip = (name: string, value: string) => ({ [`cce-elastic-ip-${name}`]: value });

describe('a Service', () => {
  it.each([
    [lb('scheduler', 'Random'), {}, 'cce-load-balancer-scheduler: "Random" is not one of RoundRobin, LeastConnection, Hash'],
    [lb('scheduler', 'RoundRobin'), { sessionAffinity: 'ClientIP' }, 'does not go with session affinity ClientIP'],
    [lb('rs-max-num', '51'), {}, '"51" is not between 1 and 50'],
    [lb('rs-max-num', 'all'), {}, '"all" is not an integer'],
    [lb('health-check-timeout-in-second', '61'), {}, '"61" is not between 1 and 60'],
    [lb('health-check-interval', '0'), {}, '"0" is not between 1 and 10'],
    [lb('unhealthy-threshold', '1'), {}, '"1" is not between 2 and 5'],
    [lb('healthy-threshold', '6'), {}, '"6" is not between 2 and 5'],
    [lb('lb-name', '1st'), {}, '"1st" is not a name'],
    [lb('exist-id', '../eip'), {}, '"../eip" is not the ID of a load balancer'],
    [lb('exist-id', '..'), {}, '".." is not the ID of a load balancer'],
    [lb('subnet-id', 'sbn/../../eip'), {}, '"sbn/../../eip" is not the ID of a subnet'],
    [{ ...lb('exist-id', 'lb-1'), ...lb('id', 'lb-2') }, {}, 'name two load balancers: lb-2, lb-1'],
    [lb('internal-vpc', 'true'), { loadBalancerIP: '106.1.1.1' }, 'does not go with spec.loadBalancerIP'],
    [lb('type', 'app'), {}, 'cce-load-balancer-type is not supported: it is for application load balancers'],
    [lb('shape', 'x'), {}, 'cce-load-balancer-shape is not supported: the provider does not know it'],
    [eip('color', 'x'), {}, 'cce-elastic-ip-color is not supported: the provider does not know it'],
    [eip('payment-timing', 'Later'), {}, '"Later" is not one of Prepaid, Postpaid'],
    [{ ...eip('payment-timing', 'Prepaid'), ...eip('billing-method', 'ByTraffic') }, {}, 'when using Prepaid EIP'],
    [eip('payment-timing', 'Prepaid'), {}, 'reservationLength should in [1,2,3,4,5,6,7,8,9,12,24,36]'],
    [eip('reservation-length', '3'), {}, 'goes with'],
    [eip('billing-method', 'ByMood'), {}, '"ByMood" is not one of ByTraffic, ByBandwidth'],
    [eip('bandwidth-in-mbps', '1001'), {}, '"1001" is not between 1 and 1000'],
    [{ ...eip('billing-method', 'ByBandwidth'), ...eip('bandwidth-in-mbps', '201') }, {}, '"201" is not between 1 and 200'],
    [{}, { loadBalancerIP: 'somewhere' }, 'spec.loadBalancerIP: "somewhere" is not an IPv4 address'],
    [{}, { loadBalancerSourceRanges: ['everywhere'] }, 'not a source range: "everywhere"'],
    [{}, { ipFamilies: ['IPv6'] }, 'the Service has IPv6 addresses only'],
    [{}, { ports: [] }, 'requested load balancer with no ports'],
    [{}, { ports: [{ port: 80, protocol: 'SCTP', nodePort: 1 }] }, 'target protocol is not supported: SCTP'],
    [{}, { ports: [{ port: 80, protocol: 'TCP' }] }, 'port 80 has no node port'],
  ])('that asks for %j and %j is refused before anything is made', (annotations, spec, expected) => {
    expect(refusal(annotations, spec)).toContain(expected);
  });
  it('may carry what the manager itself notes', () => {
    const noted = { ...lb('id', 'lb-1'), ...lb('cce-add-id', 'lb-1'), ...lb('cce-add-eip', '106.1.1.1') };
    expect(refusal(noted)).toBe('nothing');
    expect(givenId(serviceWith(noted))).toBeUndefined();
    expect(givenId(serviceWith({ ...noted, ...lb('exist-id', 'lb-2') }))).toBe('lb-2');
  });
});
