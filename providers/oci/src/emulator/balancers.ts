// What load balancers of both kinds have in common: how they are checked, made, changed and deleted. Each change is a work request, during which the
// load balancer takes no other.
import type { VendorRequest } from 'sagong/cloud-provider/test-server';
import type { BackendSet, BalancerKind, Certificate, Listener, RuleSet } from '../api/types.ts';
import type { Account, StoredBalancer } from './account.ts';
import { alreadyExists, incorrectState, invalid, notFound, related } from './refusals.ts';

type Parts = Pick<StoredBalancer, 'listeners' | 'backendSets' | 'certificates' | 'ruleSets'>;
export type PartName = keyof Parts;

const policies = { lb: ['ROUND_ROBIN', 'LEAST_CONNECTIONS', 'IP_HASH'], nlb: ['FIVE_TUPLE', 'THREE_TUPLE', 'TWO_TUPLE'] };
const protocols = { lb: ['HTTP', 'HTTP2', 'TCP', 'GRPC'], nlb: ['ANY', 'TCP', 'UDP', 'TCP_AND_UDP', 'L3IP'] };
const shapes = ['10Mbps', '100Mbps', '400Mbps', '8000Mbps', '10Mbps-Micro', 'flexible'];
const backendSetNameMax = 32;

function checkListener(kind: BalancerKind, name: string, listener: Listener, parts: Parts): void {
  const { port, protocol, defaultBackendSetName, sslConfiguration, ruleSetNames = [], connectionConfiguration } = listener;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid(`listener ${name}: the port is wrong`);
  if (!protocols[kind].includes(protocol)) throw invalid(`listener ${name}: the protocol ${protocol} is not known`);
  if (!parts.backendSets[defaultBackendSetName])
    throw invalid(`listener ${name}: there is no backend set ${defaultBackendSetName}`);
  if (protocol === 'GRPC' && !sslConfiguration) throw invalid(`listener ${name}: GRPC needs an SSL configuration`);
  if (connectionConfiguration && !(connectionConfiguration.idleTimeout > 0))
    throw invalid(`listener ${name}: idleTimeout must be given`);
  checkCertificate(sslConfiguration, parts);
  for (const set of ruleSetNames) if (!parts.ruleSets[set]) throw invalid(`listener ${name}: there is no rule set ${set}`);
  for (const [other, { port: taken, ipVersion }] of Object.entries(parts.listeners))
    if (other !== name && taken === port && ipVersion === listener.ipVersion)
      throw invalid(`port ${port} is taken by listener ${other}`);
}

function checkCertificate(ssl: Listener['sslConfiguration'], parts: Parts): void {
  if (ssl && !parts.certificates[ssl.certificateName]) throw invalid(`there is no certificate ${ssl.certificateName}`);
}

function checkBackendSet(account: Account, kind: BalancerKind, name: string, set: BackendSet, parts: Parts): void {
  if (!/^[\w-]+$/.test(name) || name.length > backendSetNameMax) throw invalid(`${name} is no name of a backend set`);
  if (!policies[kind].includes(set.policy)) throw invalid(`the policy ${set.policy} is not known`);
  if (!set.healthChecker?.protocol) throw invalid('healthChecker must be given');
  checkCertificate(set.sslConfiguration, parts);
  const keys = (set.backends ?? []).map(({ ipAddress, port }) => `${ipAddress}:${port}`);
  if (new Set(keys).size < keys.length) throw invalid('a backend is there twice');
  for (const { targetId, port, ipAddress } of set.backends ?? []) {
    if (!Number.isInteger(port) || !(ipAddress || targetId)) throw invalid('a backend must have an address and a port');
    if (targetId && !account.get('instance', targetId)) throw related(`the target ${targetId}`);
  }
}

function checkPlace(account: Account, kind: BalancerKind, one: StoredBalancer): void {
  for (const id of one.subnetIds) if (!account.get('subnet', id)) throw related(`the subnet ${id}`);
  if (one.subnetIds.length === 0) throw invalid('a subnet must be given');
  checkGroups(account, one.networkSecurityGroupIds);
  if (kind === 'lb') checkShape(one);
}
export function checkShape({ shapeName = '', shapeDetails }: Pick<StoredBalancer, 'shapeName' | 'shapeDetails'>): void {
  if (!shapes.includes(shapeName)) throw invalid(`the shape ${shapeName} is not known`);
  if (shapeName === 'flexible' && !shapeDetails) throw invalid('shapeDetails must be given for a flexible shape');
}
export function checkGroups(account: Account, ids: readonly string[]): void {
  if (ids.length > 5) throw invalid('a load balancer is in 5 network security groups at most');
  for (const id of ids) if (!account.get('group', id)) throw related(`the network security group ${id}`);
}

const isThere = ({ lifecycleState }: { lifecycleState: string }): boolean => lifecycleState !== 'DELETED';

/** The name of a work request from the kind of load balancer and the type of work: `LB CreateListener`. */
export const workKind = (kind: BalancerKind, type: string): string => `${kind} ${type}`;

export class Balancers {
  readonly #account: Account;
  readonly #kind: BalancerKind;

  constructor(account: Account, kind: BalancerKind) {
    this.#account = account;
    this.#kind = kind;
  }
  seen(id: string): StoredBalancer {
    const found = this.#account.seen('balancer', id);
    if (found.kind !== this.#kind) throw notFound(id);
    return found;
  }
  seenAll(): StoredBalancer[] {
    return this.#account.seenOf('balancer').filter(({ kind }) => kind === this.#kind);
  }
  /** For a change: it must be there, and idle. */
  idle(id: string): StoredBalancer {
    const found = this.#account.must('balancer', id);
    if (found.kind !== this.#kind || !isThere(found)) throw notFound(id);
    const busy = this.#account.operations.busyWith(id);
    if (busy) throw incorrectState(`load balancer ${id} is being changed by work request ${busy.id}`);
    return found;
  }
  #begin(type: string, id: string, work: () => void): string {
    return this.#account.operations.begin({ kind: workKind(this.#kind, type), target: id, work }).id;
  }
  /** The ID of the work request. */
  create(
    request: VendorRequest,
    given: Omit<StoredBalancer, 'id' | 'kind' | 'creation' | 'lifecycleState' | 'timeCreated' | 'ipAddresses'>,
    reservedIps: { id: string }[],
  ): string {
    const account = this.#account;
    const exists = (id: string): boolean =>
      ['CREATING', 'ACTIVE', 'UPDATING', 'FAILED'].includes(account.get('balancer', id)?.lifecycleState ?? '');
    const token = request.headers['opc-retry-token'];
    return account.once(token && `${this.#kind} ${token}`, exists, () => {
      const id = account.id(this.#kind === 'nlb' ? 'networkloadbalancer' : 'loadbalancer');
      const state = {
        id,
        kind: this.#kind,
        timeCreated: account.time(),
        ipAddresses: [],
        lifecycleState: 'CREATING',
        creation: '',
      };
      const made: StoredBalancer = { ...given, ...state };
      checkPlace(account, this.#kind, made);
      for (const [name, set] of Object.entries(made.backendSets)) checkBackendSet(account, this.#kind, name, set, made);
      for (const [name, listener] of Object.entries(made.listeners)) checkListener(this.#kind, name, listener, made);
      const reserved = reservedIps.map((one) => this.#reserve(one.id));
      account.put('balancer', made);
      const answer = this.#begin('Create', id, () => {
        const now = account.must('balancer', id);
        account.put('balancer', { ...now, lifecycleState: 'ACTIVE', ipAddresses: this.#addresses(now, reserved) });
      });
      account.put('balancer', { ...account.must('balancer', id), creation: answer });
      return { id, answer };
    }).answer;
  }
  #reserve(id: string): { id: string; ipAddress: string } {
    const found = this.#account.get('publicIp', id);
    if (!found) throw related(`the reserved IP ${id}`);
    if (found.lifecycleState !== 'AVAILABLE') throw incorrectState(`the reserved IP ${id} is in use`);
    this.#account.put('publicIp', { ...found, lifecycleState: 'ASSIGNED' });
    return found;
  }
  #addresses({ isPrivate, id }: StoredBalancer, reserved: { id: string; ipAddress: string }[]): StoredBalancer['ipAddresses'] {
    const number = Number(id.slice(-8));
    const low = `${(number >> 8) & 255}.${number & 255}`;
    if (isPrivate) return [{ ipAddress: this.#account.privateAddress(low), isPublic: false }];
    const [first] = reserved;
    const outside = first
      ? { ipAddress: first.ipAddress, isPublic: true, reservedIp: { id: first.id } }
      : { ipAddress: this.#account.publicAddress(low), isPublic: true };
    const inside = { ipAddress: this.#account.privateAddress(low), isPublic: false };
    return this.#kind === 'nlb' && this.#account.showsInside ? [inside, outside] : [outside];
  }
  /** Changes a piece, or makes it. */
  setPart<P extends PartName>(id: string, part: P, name: string, details: Parts[P][string], isNew: boolean): string {
    const there = this.idle(id);
    const known = Object.hasOwn(there[part], name);
    if (isNew && known) throw alreadyExists(`${part} ${name}`);
    if (!isNew && !known) throw notFound(`${part} ${name}`);
    if (part === 'listeners') checkListener(this.#kind, name, details as Listener, there);
    if (part === 'backendSets') checkBackendSet(this.#account, this.#kind, name, details as BackendSet, there);
    if (part === 'certificates' && !(details as Certificate).publicCertificate) throw invalid('publicCertificate must be given');
    if (part === 'ruleSets' && !Array.isArray((details as RuleSet).items)) throw invalid('items must be given');
    return this.#begin(`${isNew ? 'Create' : 'Update'}${part}`, id, () => {
      const now = this.#account.must('balancer', id);
      this.#account.put('balancer', { ...now, [part]: { ...now[part], [name]: details } });
    });
  }
  deletePart(id: string, part: PartName, name: string): string {
    const there = this.idle(id);
    if (!Object.hasOwn(there[part], name)) throw notFound(`${part} ${name}`);
    const users = [...Object.entries(there.listeners), ...Object.entries(there.backendSets)].filter(([, one]) => {
      const { defaultBackendSetName, ruleSetNames = [], sslConfiguration } = one as Listener;
      if (part === 'backendSets') return defaultBackendSetName === name;
      if (part === 'ruleSets') return ruleSetNames.includes(name);
      return part === 'certificates' && sslConfiguration?.certificateName === name;
    });
    if (users.length > 0) throw invalid(`${part} ${name} is in use by ${users.map(([user]) => user).join(', ')}`);
    return this.#begin(`Delete${part}`, id, () => {
      const now = this.#account.must('balancer', id);
      const rest = Object.fromEntries(Object.entries(now[part]).filter(([one]) => one !== name));
      this.#account.put('balancer', { ...now, [part]: rest });
    });
  }
  update(id: string, type: string, changes: Partial<StoredBalancer>): string {
    this.idle(id);
    return this.#begin(type, id, () => {
      this.#account.put('balancer', { ...this.#account.must('balancer', id), ...changes });
    });
  }
  delete(id: string): string {
    const there = this.idle(id);
    this.#account.put('balancer', { ...there, lifecycleState: 'DELETING' });
    return this.#begin('Delete', id, () => {
      const account = this.#account;
      const now = account.must('balancer', id);
      for (const { reservedIp } of now.ipAddresses) {
        const reserved = account.get('publicIp', reservedIp?.id ?? '');
        if (reserved) account.put('publicIp', { ...reserved, lifecycleState: 'AVAILABLE' });
      }
      account.put('balancer', { ...now, lifecycleState: 'DELETED' });
    });
  }
}

/** What follows from work requests that have ended. */
export function settleBalancers(account: Account): void {
  account.operations.settle();
  for (const one of account.of('balancer')) {
    if (one.lifecycleState === 'CREATING' && account.operations.get(one.creation)?.state === 'failed')
      account.put('balancer', { ...one, lifecycleState: 'FAILED' });
    else if (one.lifecycleState === 'DELETING' && !account.operations.busyWith(one.id))
      // Its deletion failed.
      account.put('balancer', { ...one, lifecycleState: 'ACTIVE' });
  }
}
