// The suite every provider passes, against the local server of Azure's API: for single machines, scale sets and pools of addresses, plain and with every
// fifth request failing.
import { conformance } from 'sagong/cloud-provider/conformance';
import { describe, it } from 'vitest';
import { openConformance } from '../test-server/conformance-world.ts';

const onlyOnce = { instances: 'the same as for external load balancers', routes: 'the same as for external load balancers' };

describe('single machines, external load balancers', () => {
  conformance({ instancesMany: 60, open: () => openConformance() }, { describe, it });
});
describe('scale sets', () => {
  conformance({ instancesMany: 60, open: () => openConformance({ scaleSet: true }) }, { describe, it });
});
describe('internal load balancers', () => {
  conformance({ open: () => openConformance({ internal: true }), skips: onlyOnce }, { describe, it });
});
describe('pools of addresses', () => {
  conformance({ open: () => openConformance({ poolOfAddresses: true }), skips: onlyOnce }, { describe, it });
});
describe('with every fifth request failing: external load balancers', () => {
  conformance({ instancesMany: 60, open: () => openConformance({ flaky: true }) }, { describe, it });
});
describe('with every fifth request failing: internal load balancers of scale sets', () => {
  conformance(
    { open: () => openConformance({ internal: true, scaleSet: true, flaky: true }), skips: onlyOnce },
    { describe, it },
  );
});
