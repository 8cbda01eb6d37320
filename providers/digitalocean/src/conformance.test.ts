// The suite every provider passes, against the local server of DigitalOcean's API: plain, and with every fifth request failing.
import { conformance } from 'sagong/cloud-provider/conformance';
import { beforeAll, describe, it } from 'vitest';
import { openConformance } from '../test-server/conformance-world.ts';
import { readSdk, sdkTimeoutMs } from '../test-server/world.ts';

beforeAll(readSdk, sdkTimeoutMs);

const skips = { routes: 'the API has no routes; pod networks on DigitalOcean are overlays' };

describe('the suite of every provider', () => {
  conformance({ instancesMany: 60, skips, open: () => openConformance() }, { describe, it });
});
describe('with every fifth request failing: the suite of every provider', () => {
  conformance({ instancesMany: 60, skips, open: () => openConformance({ flaky: true }) }, { describe, it });
});
