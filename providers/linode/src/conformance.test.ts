// The suite every provider passes, against the local server of Linode's API: outside of VPCs and in one, with and without firewalls, plain and with
// every fifth request failing.
import { conformance } from 'sagong/cloud-provider/conformance';
import { describe, it } from 'vitest';
import { openConformance } from '../test-server/conformance-world.ts';

const noRoutes = { routes: 'routes are ranges of interfaces in a VPC' };
const inVpc = { 'load balancers': 'the same with firewalls' };

describe('NodeBalancers', () => {
  conformance({ instancesMany: 60, open: () => openConformance(), skips: noRoutes }, { describe, it });
});
describe('NodeBalancers with firewalls, nodes in a VPC', () => {
  conformance({ instancesMany: 60, open: () => openConformance({ vpc: true, firewalls: true }) }, { describe, it });
});
describe('with every fifth request failing: NodeBalancers with firewalls', () => {
  conformance(
    { instancesMany: 60, open: () => openConformance({ firewalls: true, flaky: true }), skips: noRoutes },
    { describe, it },
  );
});
describe('with every fifth request failing: nodes in a VPC', () => {
  conformance({ instancesMany: 60, open: () => openConformance({ vpc: true, flaky: true }), skips: inVpc }, { describe, it });
});
