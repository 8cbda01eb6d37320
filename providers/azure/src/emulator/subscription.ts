// The state of the subscription behind the server: its resources by ID, operations on them, and what happens outside of Kubernetes.
import type { Rng } from 'sagong/cloud-provider';
import { type Faults, LaggingMap, Operations, Refusal } from 'sagong/cloud-provider/test-server';
import { idOf, type Part, partsOf, type Resource, same } from './resource.ts';

export interface MachineOptions {
  zone?: string;
  faultDomain?: number;
  size?: string;
  group?: string;
  ipv6?: boolean;
  publicIp?: boolean;
  computerName?: string;
  /** In a scale set of mode Flexible. */
  flexibleSet?: string;
}

const size = 'Standard_D2s_v5';

const groupIn = (path: string): string => /\/resourceGroups\/([^/]+)/i.exec(path)?.[1]?.toLowerCase() ?? '';

export class Subscription {
  readonly id: string;
  readonly operations: Operations;
  readonly resources: LaggingMap<Resource>;
  readonly #faults: () => Pick<Faults, 'rates' | 'happens'>;
  readonly #groups = new Set<string>();
  #count = 0;

  constructor(id: string, now: () => number, faults: () => Pick<Faults, 'rates' | 'happens'>, rng: Rng) {
    this.id = id;
    this.#faults = faults;
    this.resources = new LaggingMap<Resource>(now, () => faults().rates.lagMs);
    this.operations = new Operations({
      now,
      durationMs: () => faults().rates.operationMs,
      idOf: () => rng.uuid(),
      failureOf: () =>
        faults().happens('lateFailure', faults().rates.lateFailure)
          ? { code: 'InternalServerError', message: 'An error occurred.', workDone: rng.int(2) === 0 }
          : undefined,
    });
  }
  path(group: string, namespace: string, ...parts: string[]): string {
    return `/subscriptions/${this.id}/resourceGroups/${group}/providers/${namespace}/${parts.join('/')}`;
  }
  network(group: string, ...parts: string[]): string {
    return this.path(group, 'Microsoft.Network', ...parts);
  }
  get(id: string): Resource | undefined {
    return this.resources.get(id.toLowerCase());
  }
  /** As a change, and a question about one resource, sees it. Lists come from a cache, and are a little late. */
  must(id: string): Resource {
    const found = this.get(id);
    if (!found) throw new Refusal(404, 'ResourceNotFound', `The Resource '${id.split(/\/providers\//i)[1]}' was not found.`);
    return found;
  }
  put(resource: Resource): Resource {
    const stored = { ...resource, etag: `W/"${(++this.#count).toString(16).padStart(8, '0')}"` };
    this.resources.set(resource.id.toLowerCase(), stored);
    this.#groups.add(groupIn(resource.id));
    return stored;
  }
  /** Throws for a path in a resource group that nobody has made. */
  needGroup(path: string): void {
    const group = groupIn(path);
    if (group !== '' && !this.#groups.has(group))
      throw new Refusal(404, 'ResourceGroupNotFound', `Resource group '${group}' could not be found.`);
  }
  delete(id: string): void {
    this.resources.delete(id.toLowerCase());
  }
  of(type: string): Resource[] {
    return [...this.resources.values()].filter((one) => same(one.type, type));
  }
  /** What a list shows. */
  listed(type: string, under: string): Resource[] {
    return [...this.resources.seenValues()].filter(
      (one) => same(one.type, type) && one.id.toLowerCase().startsWith(`${under.toLowerCase()}/`),
    );
  }
  newAddress(network: string): string {
    const number = ++this.#count;
    return `${network}.${(number >> 8) & 255}.${number & 255}`;
  }
  newIpv6 = (network: string): string => `${network}::${(++this.#count).toString(16)}`;
  /** The next free address for a public IP. */
  publicAddress = (): string => this.newAddress('20.50');
  /** The next free address for a frontend in a subnet. */
  privateAddress = (subnet: string): string => this.newAddress(subnet === 'inside' ? '10.100' : '10.225');
  /** How many numbers were given. */
  get count(): number {
    return this.#count;
  }
  set count(count: number) {
    this.#count = count;
  }
  happens(what: string, rate: number): boolean {
    return this.#faults().happens(what, rate);
  }

  // What happens outside Kubernetes

  addNetwork(group: string, location: string): void {
    const network = this.network(group, 'virtualNetworks', 'vnet');
    this.put({
      id: network,
      name: 'vnet',
      type: 'Microsoft.Network/virtualNetworks',
      location,
      properties: { provisioningState: 'Succeeded' },
    });
    for (const [name, prefixes] of [
      ['nodes', ['10.224.0.0/12', 'fd00:db8::/64']],
      ['inside', ['10.100.0.0/16']],
    ] as const)
      this.put({
        id: `${network}/subnets/${name}`,
        name,
        type: 'Microsoft.Network/virtualNetworks/subnets',
        properties: { addressPrefixes: prefixes, provisioningState: 'Succeeded' },
      });
    this.addSecurityGroup(group, 'nodes-nsg', location);
  }
  addSecurityGroup(group: string, name: string, location: string): Resource {
    return this.put({
      id: this.network(group, 'networkSecurityGroups', name),
      name,
      type: 'Microsoft.Network/networkSecurityGroups',
      location,
      properties: { securityRules: [], provisioningState: 'Succeeded' },
    });
  }
  /** A public IP that a user reserves. */
  addPublicIp(group: string, name: string, location: string, version: 'IPv4' | 'IPv6' = 'IPv4'): Resource {
    return this.put({
      id: this.network(group, 'publicIPAddresses', name),
      name,
      type: 'Microsoft.Network/publicIPAddresses',
      location,
      sku: { name: 'Standard' },
      properties: {
        provisioningState: 'Succeeded',
        publicIPAllocationMethod: 'Static',
        publicIPAddressVersion: version,
        ipAddress: version === 'IPv4' ? this.newAddress('20.50') : this.newIpv6('2603:1020'),
      },
    });
  }
  #ipConfigurations(card: string, group: string, { ipv6 = false, publicIp = false }: MachineOptions, location: string): Part[] {
    const subnet = { id: `${this.network(group, 'virtualNetworks', 'vnet')}/subnets/nodes` };
    const config = (name: string, version: string, address: string, primary: boolean): Part => ({
      name,
      id: `${card}/ipConfigurations/${name}`,
      properties: {
        primary,
        privateIPAddress: address,
        privateIPAddressVersion: version,
        privateIPAllocationMethod: 'Dynamic',
        subnet,
      },
    });
    const first = config('ipconfig1', 'IPv4', this.newAddress('10.224'), true);
    if (publicIp)
      first.properties = {
        ...first.properties,
        publicIPAddress: { id: this.addPublicIp(group, `${card.split('/').at(-1)}-ip`, location).id },
      };
    return ipv6 ? [first, config('ipconfig2', 'IPv6', this.newIpv6('fd00:db8'), false)] : [first];
  }
  addMachine(name: string, location: string, options: MachineOptions = {}): Resource {
    const { group = 'shop', zone, faultDomain = 0, flexibleSet } = options;
    const card = this.network(group, 'networkInterfaces', `${name}-nic`);
    const id = this.path(group, 'Microsoft.Compute', 'virtualMachines', name);
    this.put({
      id: card,
      name: `${name}-nic`,
      type: 'Microsoft.Network/networkInterfaces',
      location,
      properties: {
        provisioningState: 'Succeeded',
        primary: true,
        virtualMachine: { id },
        ipConfigurations: this.#ipConfigurations(card, group, options, location),
      },
    });
    return this.put({
      id,
      name,
      type: 'Microsoft.Compute/virtualMachines',
      location,
      ...(zone !== undefined && { zones: [zone] }),
      properties: {
        provisioningState: 'Succeeded',
        hardwareProfile: { vmSize: options.size ?? size },
        osProfile: { computerName: options.computerName ?? name },
        networkProfile: { networkInterfaces: [{ id: card, properties: { primary: true } }] },
        ...(flexibleSet && {
          virtualMachineScaleSet: { id: this.path(group, 'Microsoft.Compute', 'virtualMachineScaleSets', flexibleSet) },
        }),
        power: 'running',
        faultDomain,
      },
    });
  }
  addScaleSet(name: string, location: string, mode: 'Uniform' | 'Flexible' = 'Uniform', group = 'shop'): Resource {
    const id = this.path(group, 'Microsoft.Compute', 'virtualMachineScaleSets', name);
    const subnet = { id: `${this.network(group, 'virtualNetworks', 'vnet')}/subnets/nodes` };
    const cards = [
      {
        name: 'nic',
        properties: { primary: true, ipConfigurations: [{ name: 'ipconfig1', properties: { primary: true, subnet } }] },
      },
    ];
    return this.put({
      id,
      name,
      type: 'Microsoft.Compute/virtualMachineScaleSets',
      location,
      sku: { name: size },
      properties: {
        orchestrationMode: mode,
        provisioningState: 'Succeeded',
        virtualMachineProfile: { networkProfile: { networkInterfaceConfigurations: cards } },
      },
    });
  }
  /** A member of a scale set of mode Uniform; its number is given by Azure. */
  addMember(scaleSet: string, computerName: string, location: string, options: MachineOptions = {}): Resource {
    const { group = 'shop', zone, faultDomain = 0 } = options;
    const set = this.must(this.path(group, 'Microsoft.Compute', 'virtualMachineScaleSets', scaleSet));
    const instanceId = String(++this.#count);
    const id = `${set.id}/virtualMachines/${instanceId}`;
    const card = `${id}/networkInterfaces/nic`;
    const profile = set.properties['virtualMachineProfile'] as { networkProfile: { networkInterfaceConfigurations: unknown[] } };
    this.put({
      id: card,
      name: 'nic',
      type: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces',
      properties: {
        primary: true,
        provisioningState: 'Succeeded',
        ipConfigurations: this.#ipConfigurations(card, group, options, location),
      },
    });
    return this.put({
      id,
      name: `${scaleSet}_${instanceId}`,
      type: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines',
      location,
      instanceId,
      sku: { name: options.size ?? size },
      ...(zone !== undefined && { zones: [zone] }),
      properties: {
        provisioningState: 'Succeeded',
        hardwareProfile: {},
        osProfile: { computerName },
        networkProfile: { networkInterfaces: [{ id: card, properties: { primary: true } }] },
        networkProfileConfiguration: structuredClone(profile.networkProfile),
        power: 'running',
        faultDomain,
      },
    });
  }
  machineNamed(computerName: string): Resource | undefined {
    const all = [
      ...this.of('Microsoft.Compute/virtualMachines'),
      ...this.of('Microsoft.Compute/virtualMachineScaleSets/virtualMachines'),
    ];
    return all.find(({ properties }) => same((properties['osProfile'] as { computerName?: string }).computerName, computerName));
  }
  setPower(computerName: string, power: string): void {
    const machine = this.machineNamed(computerName);
    if (machine) this.put({ ...machine, properties: { ...machine.properties, power } });
  }
  /** With its network card, which leaves all pools by that. */
  removeMachine(computerName: string): void {
    const machine = this.machineNamed(computerName);
    if (!machine) return;
    const cards = (machine.properties['networkProfile'] as { networkInterfaces: { id: string }[] }).networkInterfaces;
    for (const { id } of cards) this.delete(id);
    this.delete(machine.id);
  }
  /** IP configurations that name a pool: of single machines on their card, of members in their model. */
  configsIn(poolId: string): string[] {
    const names = (part: Part): boolean =>
      ((part.properties?.['loadBalancerBackendAddressPools'] as unknown[] | undefined) ?? []).some(
        (one) => idOf(one) === poolId.toLowerCase(),
      );
    const cards = this.of('Microsoft.Network/networkInterfaces').flatMap((card) =>
      partsOf(card, 'ipConfigurations').filter(names),
    );
    const members = this.of('Microsoft.Compute/virtualMachineScaleSets/virtualMachines').flatMap(({ id, properties }) => {
      const { networkInterfaceConfigurations = [] } = (properties['networkProfileConfiguration'] ?? {}) as {
        networkInterfaceConfigurations?: Part[];
      };
      return networkInterfaceConfigurations.flatMap((card) =>
        ((card.properties?.['ipConfigurations'] as Part[] | undefined) ?? [])
          .filter(names)
          .map((config) => ({ id: `${id}/networkInterfaces/${card.name}/ipConfigurations/${config.name}` })),
      );
    });
    return [...cards, ...members].map(({ id = '' }) => id);
  }
  /** Scale sets whose model names a pool of this load balancer. */
  scaleSetsOn(balancerId: string): Resource[] {
    return this.of('Microsoft.Compute/virtualMachineScaleSets').filter(({ properties }) =>
      JSON.stringify(properties).toLowerCase().includes(`${balancerId.toLowerCase()}/`),
    );
  }
  /** The frontend of a load balancer that has a public IP, or undefined. */
  userOf(publicIpId: string): string | undefined {
    for (const balancer of this.of('Microsoft.Network/loadBalancers'))
      for (const part of partsOf(balancer, 'frontendIPConfigurations'))
        if (idOf(part.properties?.['publicIPAddress']) === publicIpId.toLowerCase()) return part.id;
    return undefined;
  }
}
