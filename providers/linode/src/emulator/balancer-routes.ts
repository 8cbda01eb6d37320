// NodeBalancers, their configs and nodes, and reserved addresses.
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { VpcRequest } from '../api/types.ts';
import { type Account, bodyOf, idIn, type StoredBalancer, type StoredConfig, type StoredNode } from './account.ts';
import { Configs } from './configs.ts';
import { attach, devicesOf, firewallShown } from './firewalls.ts';
import { listAnswer } from './lists.ts';
import { checkLabel, checkTags } from './labels.ts';
import { invalid, notFound } from './refusals.ts';

const types = ['common', 'premium', 'premium_40gb'];

const shown = ({ vpcs: _vpcs, ...balancer }: StoredBalancer): object => balancer;

function throttleOf(value: unknown): number {
  const throttle = value ?? 0;
  if (!Number.isInteger(throttle) || (throttle as number) < 0 || (throttle as number) > 20)
    throw invalid('client_conn_throttle', 'Must be between 0 and 20');
  return throttle as number;
}

function vpcsOf(account: Account, region: string, body: Record<string, unknown>): StoredBalancer['vpcs'] {
  const list = (field: string, purpose: 'backend' | 'frontend'): StoredBalancer['vpcs'] =>
    ((body[field] ?? []) as VpcRequest[]).map(({ subnet_id: subnet, ipv4_range: range }) => {
      const found = account.get('subnet', subnet);
      if (!found || account.get('vpc', found.vpc)?.region !== region)
        throw invalid(`${field}[0].subnet_id`, 'Must be a subnet in the region of the NodeBalancer');
      return { subnet_id: subnet, ipv4_range: range ?? `${account.newAddress('10.255')}/30`, purpose };
    });
  return [...list('vpcs', 'backend'), ...list('backend_vpcs', 'backend'), ...list('frontend_vpcs', 'frontend')];
}

function addressOf(account: Account, region: string, wanted: unknown): string {
  if (wanted === undefined) return account.publicAddress();
  const reserved = account.of('address').find((one) => one.address === wanted && one.reserved && one.region === region);
  if (!reserved) throw invalid('ipv4', 'Must be a reserved address in the same region');
  if (account.of('balancer').some(({ ipv4 }) => ipv4 === wanted)) throw invalid('ipv4', 'Address is already assigned');
  return reserved.address;
}

function create(account: Account, configs: Configs, body: Record<string, unknown>): StoredBalancer {
  const id = account.id();
  const label = typeof body['label'] === 'string' ? body['label'] : `balancer${id}`;
  const region = String(body['region'] ?? '');
  if (!/^[a-z]+-[a-z0-9-]+$/.test(region)) throw invalid('region', 'region is not valid');
  checkLabel(label, account.of('balancer'));
  const type = String(body['type'] ?? 'common');
  if (!types.includes(type)) throw invalid('type', `Must be one of ${types.join(', ')}`);
  const vpcs = vpcsOf(account, region, body);
  const frontend = vpcs.find(({ purpose }) => purpose === 'frontend');
  const ipv4 = frontend ? account.privateAddress() : addressOf(account, region, body['ipv4']);
  const balancer: StoredBalancer = {
    id,
    label,
    region,
    hostname: `${ipv4.replaceAll('.', '-')}.ip.linodeusercontent.com`,
    ipv4,
    ipv6: account.publicIpv6(id),
    client_conn_throttle: throttleOf(body['client_conn_throttle']),
    tags: checkTags(body['tags']),
    type,
    frontend_address_type: frontend ? 'vpc' : 'public',
    frontend_vpc_subnet_id: frontend?.subnet_id ?? null,
    vpcs,
  };
  const bodies = (body['configs'] ?? []) as Record<string, unknown>[];
  configs.check(balancer, bodies);
  const firewall = body['firewall_id'];
  if (firewall !== undefined && !account.get('firewall', Number(firewall))) throw invalid('firewall_id', 'Firewall not found');
  account.put('balancer', balancer);
  for (const one of bodies) configs.setNodes(configs.put(balancer, one), (one['nodes'] ?? []) as Record<string, unknown>[]);
  if (firewall !== undefined) attach(account, Number(firewall), id);
  return balancer;
}

const base = '/v4/nodebalancers';
const nodesIn = (request: VendorRequest) => (bodyOf(request)['nodes'] ?? []) as Record<string, unknown>[];

/** What a path leads to. */
function lookups(account: Account) {
  const balancerOf = (request: VendorRequest): StoredBalancer => account.must('balancer', idIn(request));
  const configOf = (request: VendorRequest, look: 'seen' | 'must' = 'must'): StoredConfig => {
    const found = account[look]('config', idIn(request, 'config'));
    if (found.nodebalancer_id !== idIn(request)) throw notFound();
    return found;
  };
  const nodeOf = (request: VendorRequest): StoredNode => {
    const found = account.must('node', idIn(request, 'node'));
    if (found.config_id !== configOf(request).id) throw notFound();
    return found;
  };
  return { balancerOf, configOf, nodeOf };
}

function configRoutes(account: Account, configs: Configs): Routes {
  const { balancerOf, configOf } = lookups(account);
  return {
    [`GET ${base}/{id}/configs`]: (request) => {
      account.seen('balancer', idIn(request));
      return listAnswer(
        configs.of(idIn(request), 'seenOf').map((one) => configs.shown(one)),
        request,
      );
    },
    [`POST ${base}/{id}/configs`]: (request) => {
      const balancer = balancerOf(request);
      configs.check(balancer, [bodyOf(request)]);
      const made = configs.put(balancer, bodyOf(request));
      configs.setNodes(made, nodesIn(request));
      return { body: configs.shown(made) };
    },
    [`GET ${base}/{id}/configs/{config}`]: (request) => ({ body: configs.shown(configOf(request, 'seen')) }),
    [`PUT ${base}/{id}/configs/{config}`]: (request) => {
      const there = configOf(request);
      configs.check(balancerOf(request), [{ ...bodyOf(request), nodes: [] }], there);
      return { body: configs.shown(configs.put(balancerOf(request), bodyOf(request), there)) };
    },
    [`POST ${base}/{id}/configs/{config}/rebuild`]: (request) => {
      const there = configOf(request);
      if (nodesIn(request).length === 0) throw invalid('nodes', 'nodes is required');
      configs.check(balancerOf(request), [bodyOf(request)], there);
      const rebuilt = configs.put(balancerOf(request), bodyOf(request), there);
      configs.setNodes(rebuilt, nodesIn(request));
      return { body: configs.shown(rebuilt) };
    },
    [`DELETE ${base}/{id}/configs/{config}`]: (request) => {
      configs.delete(configOf(request).id);
      return { body: {} };
    },
  };
}

function nodeRoutes(account: Account, configs: Configs): Routes {
  const { balancerOf, configOf, nodeOf } = lookups(account);
  return {
    [`GET ${base}/{id}/configs/{config}/nodes`]: (request) =>
      listAnswer(configs.nodesOf(configOf(request, 'seen').id, 'seenOf'), request),
    [`POST ${base}/{id}/configs/{config}/nodes`]: (request) => {
      const config = configOf(request);
      configs.checkOneNode(balancerOf(request), config, bodyOf(request));
      return { body: configs.addNode(config, bodyOf(request)) };
    },
    [`GET ${base}/{id}/configs/{config}/nodes/{node}`]: (request) => ({ body: nodeOf(request) }),
    [`DELETE ${base}/{id}/configs/{config}/nodes/{node}`]: (request) => {
      account.delete('node', nodeOf(request).id);
      return { body: {} };
    },
  };
}

export function balancerRoutes(account: Account): Routes {
  const configs = new Configs(account);
  const { balancerOf } = lookups(account);
  return {
    ...configRoutes(account, configs),
    ...nodeRoutes(account, configs),
    [`GET ${base}`]: (request) =>
      listAnswer(account.seenOf('balancer').map(shown), request, ['id', 'label', 'region', 'tags', 'ipv4', 'ipv6', 'hostname']),
    [`POST ${base}`]: (request) => ({ body: shown(create(account, configs, bodyOf(request))) }),
    [`GET ${base}/{id}`]: (request) => ({ body: shown(account.seen('balancer', idIn(request))) }),
    [`PUT ${base}/{id}`]: (request) => {
      const there = balancerOf(request);
      const {
        label = there.label,
        client_conn_throttle: throttle = there.client_conn_throttle,
        tags = there.tags,
      } = bodyOf(request);
      if (label !== there.label) checkLabel(String(label), account.of('balancer'));
      const changed = { ...there, label: String(label), client_conn_throttle: throttleOf(throttle), tags: checkTags(tags) };
      return { body: shown(account.put('balancer', changed)) };
    },
    [`DELETE ${base}/{id}`]: (request) => {
      const { id } = balancerOf(request);
      for (const config of configs.of(id)) configs.delete(config.id);
      for (const device of account.of('device')) if (device.balancer === id) account.delete('device', device.id);
      account.delete('balancer', id);
      return { body: {} };
    },
    [`GET ${base}/{id}/firewalls`]: (request) => {
      account.seen('balancer', idIn(request));
      const attached = devicesOf(account, 'seenOf').filter(({ balancer }) => balancer === idIn(request));
      return listAnswer(
        attached.map(({ firewall }) => firewallShown(account, account.must('firewall', firewall))),
        request,
      );
    },
    [`GET ${base}/{id}/vpcs`]: (request) => listAnswer(balancerOf(request).vpcs, request),
    'DELETE /v4/networking/reserved/ips/{address}': ({ params }) => {
      const found = account.of('address').find(({ address, reserved }) => reserved && address === params['address']);
      if (!found) throw notFound();
      account.put('address', { ...found, reserved: false });
      return { body: {} };
    },
  };
}
