// The resources of Microsoft.Network: whole ones are written with PUT, checked, and shown back with what Azure fills in.
import { pageByToken, Refusal, type Routes, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { completeBalancer, shownBalancer } from './balancers.ts';
import { begin, checkPreconditions } from './operations.ts';
import { resourceIn } from './requests.ts';
import { idOf, partsOf, type Resource } from './resource.ts';
import type { Subscription } from './subscription.ts';
import { checkSecurityRules } from './security-rules.ts';

const pageItems = 20;

interface Kind {
  /** Fills in what Azure does, and throws what it refuses. */
  complete(resource: Resource, before: Resource | undefined): Resource;
  shown?(resource: Resource): Resource;
  /** Throws while something uses it. */
  checkDelete?(resource: Resource): void;
}

export function page(request: VendorRequest, items: readonly unknown[]): VendorAnswer {
  const { items: value, next } = pageByToken(items, request.url.searchParams.get('$skiptoken'), pageItems);
  if (!next) return { body: { value } };
  const link = new URL(request.url);
  link.searchParams.set('$skiptoken', next);
  return { body: { value, nextLink: link.href } };
}

/** Every part of a list has an ID under the resource and, as Azure shows it, a state. */
const withPartIds = (resource: Resource, list: string): Resource => ({
  ...resource,
  properties: {
    ...resource.properties,
    [list]: partsOf(resource, list).map((part) => ({
      ...part,
      id: `${resource.id}/${list}/${part.name}`,
      properties: { ...part.properties, provisioningState: 'Succeeded' },
    })),
  },
});

function checkNames(resource: Resource, list: string): void {
  const names = partsOf(resource, list).map(({ name = '' }) => name.toLowerCase());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Refusal(400, 'InvalidRequestFormat', `Found 2 elements named ${twice} in ${list}.`);
  const bad = names.find((name) => !/^[a-z0-9]([\w.-]{0,78}\w)?$/.test(name));
  if (bad !== undefined) throw new Refusal(400, 'InvalidResourceName', `Resource name ${bad} is invalid.`);
}

function publicIps(subscription: Subscription): Kind {
  return {
    complete(resource, before) {
      const { publicIPAddressVersion: version = 'IPv4', dnsSettings } = resource.properties as {
        publicIPAddressVersion?: string;
        dnsSettings?: { domainNameLabel?: string };
      };
      if (before && before.properties['publicIPAddressVersion'] !== version)
        throw new Refusal(400, 'PublicIPAddressVersionCannotBeChanged', 'The IP version cannot be changed.');
      const label = dnsSettings?.domainNameLabel;
      const labelled = subscription.of(resource.type).find(({ id, properties }) => {
        const other = (properties['dnsSettings'] as { domainNameLabel?: string } | undefined)?.domainNameLabel;
        return label !== undefined && other === label && id.toLowerCase() !== resource.id.toLowerCase();
      });
      if (labelled)
        throw new Refusal(
          400,
          'DnsRecordInUse',
          `DNS record ${label}.${resource.location}.cloudapp.azure.com is already used by another public IP.`,
        );
      const ipAddress =
        before?.properties['ipAddress'] ??
        (version === 'IPv6' ? subscription.newIpv6('2603:1020') : subscription.publicAddress());
      return {
        ...resource,
        properties: {
          ...resource.properties,
          publicIPAddressVersion: version,
          ipAddress,
          ...(label && { dnsSettings: { domainNameLabel: label, fqdn: `${label}.${resource.location}.cloudapp.azure.com` } }),
        },
      };
    },
    shown(resource) {
      const user = subscription.userOf(resource.id);
      return user ? { ...resource, properties: { ...resource.properties, ipConfiguration: { id: user } } } : resource;
    },
    checkDelete(resource) {
      const user = subscription.userOf(resource.id);
      if (user)
        throw new Refusal(
          400,
          'PublicIPAddressCannotBeDeleted',
          `Public IP address ${resource.id} can not be deleted since it is still allocated to resource ${user}.`,
        );
    },
  };
}

const kindsOf = (subscription: Subscription): Readonly<Record<string, Kind>> => ({
  loadBalancers: {
    complete: (resource, before) => completeBalancer(subscription, resource, before),
    shown: (resource) => shownBalancer(subscription, resource),
    checkDelete(resource) {
      const [scaleSet] = subscription.scaleSetsOn(resource.id);
      if (scaleSet)
        throw new Refusal(
          400,
          'LoadBalancerInUseByVirtualMachineScaleSet',
          `Cannot delete load balancer ${resource.id} since its child resources are in use by virtual machine scale set ${scaleSet.id}.`,
        );
      const inUse = partsOf(resource, 'backendAddressPools').flatMap(({ id = '' }) => subscription.configsIn(id));
      if (inUse.length > 0)
        throw new Refusal(
          400,
          'InUseResourceCannotBeDeleted',
          `Load balancer ${resource.id} is in use by ${inUse[0]} and cannot be deleted.`,
        );
    },
  },
  publicIPAddresses: publicIps(subscription),
  networkSecurityGroups: {
    complete(resource) {
      checkNames(resource, 'securityRules');
      checkSecurityRules(resource);
      return withPartIds(resource, 'securityRules');
    },
  },
  routeTables: {
    complete(resource) {
      checkNames(resource, 'routes');
      const ranges = partsOf(resource, 'routes').map(({ properties }) => String(properties?.['addressPrefix']));
      const twice = ranges.find((range, index) => ranges.indexOf(range) !== index);
      if (twice) throw new Refusal(400, 'RouteConflict', `Routes with the same address prefix ${twice} conflict.`);
      const hop = partsOf(resource, 'routes').find(
        ({ properties }) => properties?.['nextHopType'] === 'VirtualAppliance' && !properties['nextHopIpAddress'],
      );
      if (hop) throw new Refusal(400, 'RouteNextHopIpAddressRequired', `Route ${hop.name} needs a next hop IP address.`);
      return withPartIds(resource, 'routes');
    },
  },
  networkInterfaces: {
    complete(resource, before) {
      if (!before) throw new Refusal(400, 'NotSupportedHere', 'The test makes network interfaces.');
      for (const part of partsOf(resource, 'ipConfigurations'))
        for (const pool of (part.properties?.['loadBalancerBackendAddressPools'] as unknown[] | undefined) ?? [])
          checkPool(subscription, idOf(pool));
      return {
        ...resource,
        properties: {
          ...resource.properties,
          virtualMachine: before.properties['virtualMachine'],
          primary: before.properties['primary'],
        },
      };
    },
  },
});

/** A pool that is named must be there. */
export function checkPool(subscription: Subscription, poolId: string): void {
  const [balancerId = ''] = poolId.split('/backendaddresspools/');
  const pools = partsOf(subscription.get(balancerId), 'backendAddressPools');
  if (!pools.some(({ id = '' }) => id.toLowerCase() === poolId))
    throw new Refusal(400, 'InvalidResourceReference', `Resource ${poolId} referenced by the request was not found.`);
}

/** A change that has ended, and not well, leaves its thing in state Failed. */
const withState = (subscription: Subscription, resource: Resource): Resource =>
  resource.properties['provisioningState'] === 'Updating' && !subscription.operations.busyWith(resource.id.toLowerCase())
    ? { ...resource, properties: { ...resource.properties, provisioningState: 'Failed' } }
    : resource;

export function networkRoutes(subscription: Subscription): Routes {
  const routes: Record<string, (request: VendorRequest) => VendorAnswer> = {};
  for (const [name, kind] of Object.entries(kindsOf(subscription))) {
    const type = `Microsoft.Network/${name}`;
    const base = `/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/${name}`;
    const idIn = ({ params }: VendorRequest): string => subscription.network(params['group'] ?? '', name, params['name'] ?? '');
    const show = (resource: Resource): Resource => withState(subscription, (kind.shown ?? ((one: Resource) => one))(resource));
    routes[`GET ${base}`] = (request) =>
      page(request, subscription.listed(type, subscription.network(request.params['group'] ?? '', name)).map(show));
    routes[`GET ${base}/{name}`] = (request) => ({ body: show(subscription.must(idIn(request))) });
    routes[`PUT ${base}/{name}`] = (request) => {
      const id = idIn(request);
      checkPreconditions(subscription, request, id);
      const before = subscription.get(id);
      const body = resourceIn(request);
      if (!body.location) throw new Refusal(400, 'LocationRequired', 'The location property is required for this definition.');
      const { etag: _etag, ...rest } = body;
      const wanted = kind.complete(
        { ...rest, id, name: request.params['name'] ?? '', type, properties: body.properties ?? {} },
        before,
      );
      const put = (state: string): Resource =>
        subscription.put({ ...wanted, properties: { ...wanted.properties, provisioningState: state } });
      // What is written is there at once; the state says how far Azure is with it.
      const stored = put('Updating');
      const { location = '' } = body;
      const answer = begin(
        { subscription, request, id, kind: 'PUT', location, work: () => void put('Succeeded') },
        () => undefined,
        before ? 200 : 201,
      );
      return { ...answer, body: show(subscription.get(id) ?? stored) };
    };
    routes[`DELETE ${base}/{name}`] = (request) => {
      const id = idIn(request);
      const there = subscription.get(id);
      if (!there) return { status: 204 };
      checkPreconditions(subscription, request, id);
      kind.checkDelete?.(there);
      return begin(
        { subscription, request, id, kind: 'DELETE', location: there.location ?? '', work: () => subscription.delete(id) },
        () => undefined,
        202,
      );
    };
    routes[`PATCH ${base}/{name}`] = (request) => {
      const there = subscription.must(idIn(request));
      const { tags = {} } = resourceIn(request);
      return { body: show(subscription.put({ ...there, tags })) };
    };
  }
  const subnet =
    '/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/{network}/subnets/{name}';
  routes[`GET ${subnet}`] = ({ params }) => ({
    body: subscription.must(
      `${subscription.network(params['group'] ?? '', 'virtualNetworks', params['network'] ?? '')}/subnets/${params['name']}`,
    ),
  });
  return routes;
}
