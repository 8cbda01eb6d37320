// The suite every provider passes, against the local server of the APIs: plain, and with every fifth request failing.
import { conformance } from 'sagong/cloud-provider/conformance';
import { describe, it } from 'vitest';
import { openConformance } from '../test-server/conformance-world.ts';

const few = { 'load balancers: of many Nodes all serve': '50 of them do, unless cce-load-balancer-rs-max-num says otherwise' };
const onlyBalancers = { ...few, instances: 'the same without source ranges', routes: 'the same without source ranges' };

describe('load balancers, instances and routes', () => {
  conformance({ instancesMany: 60, skips: few, open: () => openConformance() }, { describe, it });
});
describe('load balancers with source ranges', () => {
  conformance({ open: () => openConformance({ guarded: true }), skips: onlyBalancers }, { describe, it });
});
describe('with every fifth request failing', () => {
  conformance({ instancesMany: 60, skips: few, open: () => openConformance({ guarded: true, flaky: true }) }, { describe, it });
});
