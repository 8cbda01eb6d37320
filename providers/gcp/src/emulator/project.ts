// The state of the projects behind the server: every resource by its path, operations, addresses that are given out.
import type { Rng } from 'sagong/cloud-provider';
import { type Faults, LaggingMap, Operations } from 'sagong/cloud-provider/test-server';
import { notFound } from './refusals.ts';
import { linkOf, nameIn, pathIn, placeIn, projectIn, type Resource } from './resource.ts';

export interface InstanceOptions {
  machineType?: string;
  tags?: string[];
  network?: object[];
  status?: string;
}

export class Projects {
  readonly resources: LaggingMap<Resource>;
  readonly operations: Operations;
  /** Operations by the request ID that began them. */
  readonly byRequest = new Map<string, string>();
  readonly now: () => number;
  #count = 0;

  constructor(now: () => number, faults: () => Pick<Faults, 'rates' | 'happens'>, rng: Rng) {
    this.now = now;
    this.resources = new LaggingMap(now, () => faults().rates.lagMs);
    this.operations = new Operations({
      now,
      durationMs: () => faults().rates.operationMs,
      idOf: (number) => `operation-${number}-${rng.uuid().slice(0, 8)}`,
      failureOf: () =>
        faults().happens('lateFailure', faults().rates.lateFailure)
          ? { code: 'INTERNAL_ERROR', message: 'Internal error. Please try again.', workDone: rng.int(2) === 0 }
          : undefined,
    });
  }
  number(): number {
    return ++this.#count;
  }
  /** How many numbers were given. */
  get count(): number {
    return this.#count;
  }
  set count(count: number) {
    this.#count = count;
  }
  get(path: string): Resource | undefined {
    return this.resources.get(path);
  }
  /** The resource behind a link. Throws where there is none. */
  mustGet(link: unknown, project: string): Resource {
    const path = pathIn(link, project);
    const found = this.get(path);
    if (!found) throw notFound(path);
    return found;
  }
  put(path: string, kind: string, fields: object): Resource {
    const before = this.get(path);
    const place = placeIn(path);
    const resource: Resource = {
      kind: `compute#${kind}`,
      id: before?.id ?? String(1_000_000_000_000 + this.number()),
      creationTimestamp: before?.creationTimestamp ?? new Date(this.now()).toISOString(),
      name: nameIn(path),
      selfLink: linkOf(path),
      ...(place.includes('/regions/') && { region: linkOf(place) }),
      ...(place.includes('/zones/') && { zone: linkOf(place) }),
      ...fields,
    };
    this.resources.set(path, resource);
    return resource;
  }
  /** Resources below a path, as they are. */
  below(prefix: string): Resource[] {
    return [...this.resources.values()].filter(({ selfLink }) => selfLink.startsWith(linkOf(prefix)));
  }
  of(kind: string): Resource[] {
    return [...this.resources.values()].filter((resource) => resource.kind === `compute#${kind}`);
  }

  // What happens outside Kubernetes

  addProject(project: string, regions: Readonly<Record<string, readonly string[]>>): void {
    this.put(`projects/${project}`, 'project', { name: project });
    for (const [region, zones] of Object.entries(regions)) {
      this.put(`projects/${project}/regions/${region}`, 'region', { status: 'UP' });
      for (const zone of zones)
        this.put(`projects/${project}/zones/${zone}`, 'zone', {
          region: linkOf(`projects/${project}/regions/${region}`),
          status: 'UP',
        });
    }
  }
  /** A network of mode auto, with a subnetwork in each region of its project. */
  addNetwork(project: string, name: string, fields: object = { autoCreateSubnetworks: true }): Resource {
    const network = this.put(`projects/${project}/global/networks/${name}`, 'network', fields);
    let number = 128;
    for (const { name: region } of this.below(`projects/${project}/regions/`).filter(({ kind }) => kind === 'compute#region')) {
      const second = number++;
      this.put(`projects/${project}/regions/${region}/subnetworks/${name}`, 'subnetwork', {
        network: network.selfLink,
        ipCidrRange: `10.${second}.0.0/20`,
        gatewayAddress: `10.${second}.0.1`,
      });
    }
    return network;
  }
  addInstance(project: string, zone: string, name: string, options: InstanceOptions = {}): Resource {
    const number = this.number();
    const { machineType = 'e2-standard-4', tags = [], status = 'RUNNING' } = options;
    const networkInterfaces = options.network ?? [
      {
        name: 'nic0',
        networkIP: `10.128.${(number >> 8) & 15}.${number & 255}`,
        accessConfigs: [{ type: 'ONE_TO_ONE_NAT', name: 'external-nat', natIP: `203.0.${(number >> 8) & 255}.${number & 255}` }],
      },
    ];
    const place = `projects/${project}/zones/${zone}`;
    return this.put(`${place}/instances/${name}`, 'instance', {
      machineType: linkOf(`${place}/machineTypes/${machineType}`),
      status,
      tags: { items: tags, fingerprint: 'x' },
      networkInterfaces,
    });
  }
  instanceNamed(name: string): Resource | undefined {
    return this.of('instance').find((instance) => instance.name === name);
  }
  setStatus(name: string, status: string): void {
    const instance = this.instanceNamed(name);
    if (instance) this.resources.set(pathIn(instance.selfLink, ''), { ...instance, status });
  }
  /** Removes an instance. It leaves its instance groups; target pools and routes keep what leads to it. */
  removeInstance(name: string): void {
    const instance = this.instanceNamed(name);
    if (!instance) return;
    this.resources.delete(pathIn(instance.selfLink, ''));
    for (const group of this.of('instanceGroup')) {
      const members = (group['members'] as string[]).filter((member) => member !== instance.selfLink);
      this.resources.set(pathIn(group.selfLink, ''), { ...group, members, size: members.length });
    }
  }
  /** An address that nobody has. */
  newAddress = (type: 'EXTERNAL' | 'INTERNAL'): string => {
    const number = this.number();
    const rest = `${(number >> 8) & 255}.${number & 255}`;
    return type === 'EXTERNAL' ? `198.51.${rest}` : `10.128.${rest}`;
  };
  /** What uses the resource at this path. */
  userOf(path: string): Resource | undefined {
    return [...this.resources.values()].find((other) => usedBy(other).some((link) => pathIn(link, projectIn(path)) === path));
  }
}

/** Links of what a resource needs. */
function usedBy(resource: Resource): unknown[] {
  switch (resource.kind) {
    case 'compute#forwardingRule':
      return [resource['target'], resource['backendService']];
    case 'compute#targetPool':
      return (resource['healthChecks'] as unknown[] | undefined) ?? [];
    case 'compute#backendService':
      return [
        ...((resource['healthChecks'] as unknown[] | undefined) ?? []),
        ...((resource['backends'] as { group?: string }[] | undefined) ?? []).map(({ group }) => group),
      ];
    default:
      return [];
  }
}
