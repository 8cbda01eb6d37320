// The suite every provider passes, against the local server of the APIs: plain, and with every fifth request failing.
import { conformance } from 'sagong/cloud-provider/conformance';
import { describe, it } from 'vitest';
import { openConformance } from '../test-server/conformance-world.ts';

const skips = { routes: 'not yet' };

describe('load balancers', () => {
  conformance({ instancesMany: 60, open: () => openConformance(), skips }, { describe, it });
});
describe('with every fifth request failing', () => {
  conformance({ instancesMany: 60, open: () => openConformance({ flaky: true }), skips }, { describe, it });
});
