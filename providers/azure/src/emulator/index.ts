// Azure Resource Manager before the local cloud (`sagong up --cloud-provider-emulator azure`): load balancers, public IPs, network security groups, route tables,
// network interfaces and virtual machines of one resource group, from the vendor's reference (https://learn.microsoft.com/rest/api). What is kept here is what the
// vendor knows beyond the local cloud. Operations are done before the request that begins them is answered.
import { createHash, randomBytes } from 'node:crypto';
import {
  answeringApi,
  type EmulatedMachine,
  freeAddress,
  privateAddress,
  savedAccount,
  savedText,
  type VendorEmulation,
  type VendorEmulationContext,
  type VendorEmulatorDefinition,
} from 'sagong/cloud-provider/emulator';
import { noRates, type Operation, Refusal } from 'sagong/cloud-provider/test-server';
import { computeRoutes } from './compute.ts';
import { clientIdOf, createIdentity, identityEndpoint } from './identity.ts';
import { operationsKept, secretBytes } from './limits.ts';
import { addressOf, balancersOf, type Place, routesOf } from './local-cloud.ts';
import { group, isKept, network, ownIps, setMachines, subnet } from './machines.ts';
import { networkRoutes } from './network.ts';
import { operationRoutes } from './operations.ts';
import { refusalBody } from './refusals.ts';
import { checkRequest } from './requests.ts';
import { partsOf, type Resource } from './resource.ts';
import { Subscription } from './subscription.ts';

const securityGroup = 'nodes-nsg';
const tenant = '00000000-0000-4000-8000-000000000000';

/** The subscription of an account, always the same one. */
const subscriptionOf = (secret: string): string =>
  clientIdOf(createHash('sha256').update(`${secret} subscription`).digest('hex'));

interface Saved {
  count: number;
  resources: Resource[];
  operations: Operation[];
}

function restore(subscription: Subscription, text: string): void {
  const { count, resources, operations } = savedAccount<Saved>('Azure', text);
  for (const resource of resources) subscription.resources.set(resource.id.toLowerCase(), resource);
  subscription.count = count;
  subscription.operations.restore(operations);
}

const save = (subscription: Subscription): string =>
  savedText({
    count: subscription.count,
    resources: [...subscription.resources.values()].filter(isKept),
    operations: subscription.operations.all().slice(-operationsKept),
  } satisfies Saved);

/** A virtual network with one subnet, and the security group of the nodes. */
function addNetwork(subscription: Subscription, location: string, addressPrefixes: readonly string[]): void {
  const id = subscription.network(group, 'virtualNetworks', network);
  const properties = { addressPrefixes, provisioningState: 'Succeeded' };
  const type = 'Microsoft.Network/virtualNetworks';
  subscription.put({ id, name: network, type, location, properties: { provisioningState: 'Succeeded' } });
  subscription.put({ id: `${id}/subnets/${subnet}`, name: subnet, type: `${type}/subnets`, properties });
  subscription.addSecurityGroup(group, securityGroup, location);
}

const ipAddressesOf = (subscription: Subscription): string[] =>
  ownIps(subscription).map(({ properties }) => String(properties['ipAddress']));
const privateOnes = (subscription: Subscription): string[] =>
  subscription
    .of('Microsoft.Network/loadBalancers')
    .flatMap((balancer) => partsOf(balancer, 'frontendIPConfigurations').map((one) => addressOf(subscription, one).address));

function open({ saved, secret, region, subnetCidrs, now, rng }: VendorEmulationContext): VendorEmulation {
  const subscription = new Subscription(subscriptionOf(secret), now, () => ({ rates: noRates, happens: () => false }), rng);
  let machines: readonly EmulatedMachine[] = [];
  let free: readonly string[] = [];
  addNetwork(subscription, region, subnetCidrs);
  subscription.publicAddress = () => freeAddress(free, ipAddressesOf(subscription));
  subscription.privateAddress = () => privateAddress(subnetCidrs[0] ?? '', privateOnes(subscription), rng);
  subscription.newIpv6 = () => {
    throw new Refusal(400, 'NotSupportedByLocalCloud', 'The local cloud has no IPv6.');
  };
  if (saved !== undefined) restore(subscription, saved);
  const identity = createIdentity(secret, now);
  const place: Place = {
    subscription,
    securityGroup: subscription.network(group, 'networkSecurityGroups', securityGroup),
    cidrs: subnetCidrs,
    machineAt: (address) => machines.find((machine) => machine.privateAddress === address)?.id,
  };
  const api = answeringApi({
    ignoreCase: true,
    routes: {
      ...networkRoutes(subscription),
      ...computeRoutes(subscription),
      ...operationRoutes(subscription),
      ...identity.routes,
    },
    enter(request) {
      identity.checkAccess(request);
      checkRequest(subscription, request);
    },
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
    headers: ({ number }) => ({ 'x-ms-request-id': `request-${number}` }),
  });
  return {
    ...api,
    setMachines(there) {
      machines = there;
      setMachines(subscription, there, region);
    },
    setBalancers() {},
    setFreeAddresses(addresses) {
      free = addresses;
    },
    addresses: () => ipAddressesOf(subscription),
    balancers: () => balancersOf(place),
    routes: () => routesOf(place),
    save: () => save(subscription),
  };
}

const definition: VendorEmulatorDefinition = {
  provider: 'azure',
  newSecret: () => randomBytes(secretBytes).toString('hex'),
  publicAddresses: true,
  open,
  manager: ({ url, secret, region }) => ({
    env: { IDENTITY_ENDPOINT: identityEndpoint(url), IDENTITY_HEADER: secret },
    unset: [
      'AZURE_CLIENT_ID',
      'AZURE_CLIENT_SECRET',
      'AZURE_CLIENT_CERTIFICATE_PATH',
      'AZURE_FEDERATED_TOKEN_FILE',
      'AZURE_TENANT_ID',
      'AZURE_AUTHORITY_HOST',
      'AZURE_POD_IDENTITY_AUTHORITY_HOST',
      'IDENTITY_SERVER_THUMBPRINT',
      'IMDS_ENDPOINT',
      'MSI_ENDPOINT',
      'MSI_SECRET',
    ],
    config: `${JSON.stringify(
      {
        cloud: 'AzurePublicCloud',
        resourceManagerEndpoint: url,
        tenantId: tenant,
        subscriptionId: subscriptionOf(secret),
        useManagedIdentityExtension: true,
        userAssignedIdentityID: clientIdOf(secret),
        resourceGroup: group,
        location: region,
        vnetName: network,
        subnetName: subnet,
        securityGroupName: securityGroup,
        routeTableName: 'nodes-routes',
        vmType: 'standard',
      },
      null,
      2,
    )}\n`,
    rights: {},
  }),
};
export default definition;
