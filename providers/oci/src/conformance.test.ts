import { describe, it } from 'vitest';
import { conformance } from 'sagong/cloud-provider/conformance';
import { openConformance } from '../test-server/conformance-world.ts';

const skips = { routes: 'the vendor has none: pod networks on OCI are overlays, or addresses of VNICs' };

describe('load balancers', () => {
  conformance({ open: () => openConformance(), skips, instancesMany: 30 }, { describe, it });
});
