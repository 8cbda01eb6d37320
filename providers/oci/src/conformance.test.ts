import { describe, it } from 'vitest';
import { conformance, type ConformanceTarget } from 'sagong/cloud-provider/conformance';
import { annotation } from './annotations.ts';
import { openConformance } from '../test-server/conformance-world.ts';

const routes = 'the vendor has none: pod networks on OCI are overlays, or addresses of VNICs';
const network = { [annotation.type]: 'nlb', [annotation.ruleMode]: 'NSG' };

function suite(name: string, options: Parameters<typeof openConformance>[0], skips: ConformanceTarget['skips'] = {}): void {
  describe(name, () => {
    conformance({ open: () => openConformance(options), skips: { routes, ...skips }, instancesMany: 30 }, { describe, it });
  });
}

const onlyBalancers = { instances: 'they are the same' };

suite('load balancers, with rules in security lists', {});
suite('network load balancers, with a network security group', { annotations: network }, onlyBalancers);
suite('with every fifth request failing: load balancers', { flaky: true });
suite('with every fifth request failing: network load balancers', { annotations: network, flaky: true }, onlyBalancers);
