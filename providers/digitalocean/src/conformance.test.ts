// The suite every provider passes, against the local server of DigitalOcean's API.
import type { Service } from 'sagong/cloud-provider';
import { defaultLoadBalancerName } from 'sagong/cloud-provider';
import { conformance } from 'sagong/cloud-provider/conformance';
import { beforeAll, describe, it } from 'vitest';
import type { ForwardingRule } from './api/types.ts';
import { openWorld, readSdk, sdkTimeoutMs, settling } from '../test-server/world.ts';

beforeAll(readSdk, sdkTimeoutMs);

describe('the suite of every provider', () =>
  conformance(
    {
      instancesMany: 60,
      skips: { routes: 'the API has no routes; pod networks on DigitalOcean are overlays' },
      async open() {
        const { server, open, close } = await openWorld();
        const { account } = server;
        // A load balancer is `new` at first and then asks to be looked at again, which the suite does not do by itself.
        const openSettling = async () => {
          const cloud = await open();
          return { ...cloud, ...(cloud.loadBalancer && { loadBalancer: settling(cloud.loadBalancer) }) };
        };
        return {
          cloud: await openSettling(),
          cluster: 'kubernetes',
          addInstance(name) {
            account.addDroplet(name);
          },
          stopInstance(name) {
            account.dropletNamed(name).status = 'off';
          },
          terminateInstance(name) {
            account.droplets.delete(account.dropletNamed(name).id);
          },
          backends: (service: Service) =>
            account
              .loadBalancerNamed(defaultLoadBalancerName(service))
              .droplet_ids.map((id) => account.droplets.get(id)?.name ?? String(id)),
          // Network load balancers send to the port itself, not to the node port.
          listeners: (service: Service) =>
            (account.loadBalancerNamed(defaultLoadBalancerName(service)).forwarding_rules as ForwardingRule[]).map(
              ({ entry_protocol, entry_port }) => `${entry_protocol.toUpperCase()} ${entry_port}`,
            ),
          leftovers: () => [...account.loadBalancers.values()].map(({ name }) => name),
          failInTheMiddle: () => server.fail({ method: 'POST', path: /load_balancers/, status: 500, afterwards: true }),
          secondProvider: openSettling,
          close,
        };
      },
    },
    { describe, it },
  ));
