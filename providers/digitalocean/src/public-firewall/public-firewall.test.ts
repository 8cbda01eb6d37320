import type { CloudInformers, KubeObject, ProviderMetrics, Service } from 'sagong/cloud-provider';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  eventually,
  openWorld,
  readSdk,
  sdkTimeoutMs,
  serviceWith,
  type TestCluster,
  testCluster,
  type TestWorld,
} from '../../test-server/world.ts';
import { annotations } from '../annotations.ts';
import type { Firewall } from '../api/types.ts';
import { firewallFor, isAsWanted, rulesOf } from './rules.ts';

beforeAll(readSdk, sdkTimeoutMs);

const anywhere = { addresses: ['0.0.0.0/0', '::/0'] };
const nodePort = (name: string, port: number, more: Record<string, string> = {}): Service => {
  const service = serviceWith(more, { type: 'NodePort', ports: [{ protocol: 'TCP', port: 80, nodePort: port }] });
  return { ...service, metadata: { ...service.metadata, name } };
};

describe('what a Service needs open', () => {
  it.each<[string, Service, string[]]>([
    ['its node ports', nodePort('web', 30_080), ['tcp 30080 anywhere']],
    [
      'its node ports, when the annotation cannot be read',
      nodePort('web', 30_080, { [annotations.firewallManaged]: 'x' }),
      ['tcp 30080 anywhere'],
    ],
    ['nothing, when it is not managed', nodePort('web', 30_080, { [annotations.firewallManaged]: 'false' }), []],
    ['nothing of a port that has no node port yet', nodePort('web', 0), []],
    ['nothing for a cluster address', serviceWith({}, { type: 'ClusterIP' }), []],
    ['its ports and health checks, for a network load balancer', serviceWith(), ['tcp 10256 anywhere', 'tcp 80 anywhere']],
    [
      'health checks from the load balancer alone, once it is known',
      serviceWith({ [annotations.id]: 'lb-1' }, { externalTrafficPolicy: 'Local', healthCheckNodePort: 31_000 }),
      ['tcp 31000 lb-1', 'tcp 80 anywhere'],
    ],
    ['UDP too', serviceWith({}, { ports: [{ protocol: 'UDP', port: 53 }] }), ['tcp 10256 anywhere', 'udp 53 anywhere']],
    ['nothing for one that terminates connections', serviceWith({ [annotations.type]: 'REGIONAL' }), []],
    [
      'the port of a health check of its own',
      serviceWith(
        { [annotations.overrideHealthCheck]: 'true', [annotations.healthCheckPort]: '443' },
        { ports: [{ protocol: 'TCP', port: 443, nodePort: 30_443 }] },
      ),
      ['tcp 30443 anywhere', 'tcp 443 anywhere'],
    ],
    ['nothing for an internal one', serviceWith({ [annotations.network]: 'INTERNAL' }), []],
  ])('is %s', (_name, service, expected) => {
    const shown = rulesOf(service, 'REGIONAL_NETWORK').map(
      ({ protocol, ports, sources }) => `${protocol} ${ports} ${sources.load_balancer_uids?.join() ?? 'anywhere'}`,
    );
    expect(shown).toEqual(expected);
  });
});

describe('the firewall', () => {
  const wanted = firewallFor([nodePort('b', 30_081), nodePort('a', 30_080), nodePort('again', 30_080)], {
    name: 'fw',
    tags: ['workers'],
    defaultType: 'REGIONAL_NETWORK',
  });
  it.each<Record<string, string>>([
    { [annotations.type]: 'regional' },
    { [annotations.network]: 'x' },
    { [annotations.overrideHealthCheck]: 'true', [annotations.healthCheckPort]: 'x' },
    { [annotations.healthCheckInterval]: 'soon' },
  ])('is that of all others where one Service says %j', (more) => {
    const options = { name: 'fw', tags: ['workers'], defaultType: 'REGIONAL_NETWORK' } as const;
    expect(firewallFor([serviceWith(more), nodePort('a', 30_080)], options)).toEqual(
      firewallFor([nodePort('a', 30_080)], options),
    );
  });
  it('is not opened whole for a health check that is overridden to a port without a node port, since 0 is every port', () => {
    const service = serviceWith({ [annotations.overrideHealthCheck]: '' }, { ports: [{ protocol: 'TCP', port: 80 }] });
    expect(() => rulesOf(service, 'REGIONAL_NETWORK')).toThrow('health check port: 80 has no node port');
    const { inbound_rules } = firewallFor([service], { name: 'fw', tags: ['workers'], defaultType: 'REGIONAL_NETWORK' });
    expect(inbound_rules).toEqual([]);
  });
  it('has every rule once, in order, and lets everything out', () => {
    expect(wanted.inbound_rules).toEqual([
      { protocol: 'tcp', ports: '30080', sources: anywhere },
      { protocol: 'tcp', ports: '30081', sources: anywhere },
    ]);
    expect(wanted.outbound_rules.map(({ protocol, ports }) => [protocol, ports])).toEqual([
      ['tcp', 'all'],
      ['udp', 'all'],
      ['icmp', undefined],
    ]);
  });
  it.each<[string, Partial<Firewall>, boolean]>([
    ['the same', {}, true],
    [
      'answered with "0" for all ports, in another order',
      { outbound_rules: [...wanted.outbound_rules].reverse().map((rule) => ({ ...rule, ports: '0' })) },
      true,
    ],
    ['without a rule', { inbound_rules: wanted.inbound_rules.slice(1) }, false],
    [
      'with other sources',
      { inbound_rules: wanted.inbound_rules.map((rule) => ({ ...rule, sources: { addresses: ['10.0.0.0/8'] } })) },
      false,
    ],
    ['with no rules at all', { inbound_rules: null }, false],
    ['for other droplets', { tags: ['others'] }, false],
    ['renamed', { name: 'x' }, false],
  ])('that is %s', (_name, difference, expected) => {
    expect(isAsWanted({ id: '1', ...wanted, ...difference }, wanted)).toBe(expected);
  });
});

describe('the loop', () => {
  let world: TestWorld;
  let cluster: TestCluster;
  let stop: AbortController;
  type Handler = Parameters<ReturnType<CloudInformers['informer']>['addHandler']>[0];
  let handler: Handler = {};
  const informers: CloudInformers = {
    informer: () => ({
      lister: { get: () => undefined, list: () => [] },
      addHandler(added) {
        handler = added as Handler;
        return () => {};
      },
    }),
  };
  const counted: string[] = [];
  const metrics: ProviderMetrics = {
    counter: ({ name, labels = [] }) => ({ inc: (_by, ...values) => void counted.push([name, labels, values].join(' ')) }),
    histogram: () => ({ observe() {} }),
  };
  const start = async (...services: Service[]): Promise<void> => {
    counted.length = 0;
    world = await openWorld();
    stop = new AbortController();
    cluster = testCluster(...services);
    const cloud = await world.open({ publicAccessFirewall: { name: 'fw', tags: ['workers'] } }, metrics);
    await cloud.initialize?.({ client: cluster.client, signal: stop.signal });
    cloud.setInformers?.(informers);
  };
  afterEach(async () => {
    stop.abort();
    await world.close();
  });
  const firewall = () => [...world.server.account.firewalls.values()][0];
  const opened = (): unknown => firewall()?.inbound_rules.map((rule) => (rule as { ports: string }).ports);
  /** Lets the loop come to rest, with time standing still. */
  const resting = async (): Promise<void> => {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    await eventually(() => expect(world.clock.sleeping()).toBe(1));
  };
  const tick = async (ms: number): Promise<void> => {
    await resting();
    world.clock.advance(ms);
  };

  it('makes the firewall, follows Services, and repairs it within five minutes', async () => {
    await start(nodePort('a', 30_080));
    await tick(1_000);
    await eventually(() => expect(opened()).toEqual(['30080']));
    expect(firewall()).toMatchObject({ name: 'fw', tags: ['workers'] });
    await resting();
    const calls = world.server.requests.length;

    const added = nodePort('b', 30_081);
    cluster.services.set('b', added);
    handler.onAdd?.(added as KubeObject);
    await tick(1_000);
    await eventually(() => expect(opened()).toEqual(['30080', '30081']));
    expect(world.server.requests.slice(calls).map(({ method }) => method)).toEqual(['PUT']);

    const made = firewall();
    if (made) made.inbound_rules = [];
    await tick(300_000);
    await eventually(() => expect(opened()).toEqual(['30080', '30081']));
  });
  it('is counted by upstream’s names, its calls, checks and runs', async () => {
    await start(nodePort('a', 30_080));
    await tick(1_000);
    await eventually(() => expect(opened()).toEqual(['30080']));
    await tick(300_000);
    await resting();
    const labels = 'operation,result,http_response_code';
    const once = [
      `firewall_api_operations_total ${labels} get_by_list,succeeded,200`,
      'firewall_resource_syncs_total result updated',
      `firewall_api_operations_total ${labels} create,succeeded,202`,
      'firewall_reconciles_total result,error_type reconciled,',
    ];
    const again = [...once.slice(0, 2), 'firewall_reconciles_total result,error_type skipped,'];
    await eventually(() => expect(counted).toEqual([...once, ...again]));

    await resting();
    world.server.fail({ method: 'PUT', path: /firewalls/, status: 401 });
    const changed = nodePort('b', 30_081);
    cluster.services.set('b', changed);
    handler.onAdd?.(changed as KubeObject);
    await tick(1_000);
    const failed = [
      `firewall_api_operations_total ${labels} update,failed,401`,
      'cloudprovider_digitalocean_api_request_errors request Firewalls.Update',
      'firewall_reconciles_total result,error_type failed,generic',
    ];
    await eventually(() => expect(new Set(counted.slice(once.length + again.length))).toEqual(new Set(failed)));
  });
  it('looks away from changes that open nothing', async () => {
    await start(nodePort('a', 30_080));
    await tick(1_000);
    await eventually(() => expect(opened()).toEqual(['30080']));
    await resting();
    const calls = world.server.requests.length;
    const changed = nodePort('a', 30_080, { note: 'x' });
    handler.onUpdate?.(changed as KubeObject, nodePort('a', 30_080) as KubeObject);
    await tick(2_000);
    expect(world.server.requests).toHaveLength(calls);
  });
  it('makes one anew that somebody deleted, and goes on after failures', async () => {
    await start(nodePort('a', 30_080));
    await tick(1_000);
    await eventually(() => expect(opened()).toEqual(['30080']));
    await resting();
    world.server.account.firewalls.clear();
    world.server.fail({ method: 'POST', path: /firewalls/, status: 500 });
    cluster.services.set('b', nodePort('b', 30_081));
    handler.onDelete?.(nodePort('b', 30_081) as KubeObject);
    await tick(1_000);
    await eventually(
      () => expect(opened()).toEqual(['30080', '30081']),
      () => world.clock.advance(500),
    );
  });
});
