// The kinds of resources that clients may make: what a request must say, what is filled in, what may change
// (https://cloud.google.com/compute/docs/reference/rest/v1).
import { randomBytes } from 'node:crypto';
import type { Projects } from './project.ts';
import { conditionNotMet, inUse, invalid, notFound } from './refusals.ts';
import { pathIn, projectIn, type Resource } from './resource.ts';

export type Body = Record<string, unknown>;
export interface Target {
  projects: Projects;
  path: string;
  body: Body;
}

export interface Kind {
  /** The singular, as in `compute#firewall`. */
  kind: string;
  /** Checks a request to make one; gives what is kept. */
  insert(target: Target): Body;
  /** Gives what is kept after a change; absent: it cannot be changed. */
  patch?(target: Target & { there: Resource }): Body;
  /** Before it is deleted. What is used is refused anyway. */
  remove?(target: Omit<Target, 'body'> & { there: Resource }): void;
  /** Methods of its own that change it. */
  actions?: Readonly<Record<string, (target: Target & { there: Resource }) => Body>>;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const oneOf = (field: string, value: unknown, ...words: string[]): void => {
  if (!words.includes(text(value))) throw invalid(field, value, `must be one of ${words.join(', ')}`);
};
const newFingerprint = (): string => randomBytes(8).toString('base64');

const portsIn = (value: unknown): [number, number] => {
  const [from = 0, to = from] = text(value).split('-').map(Number);
  return [from, to];
};
const rangeOf = (value: unknown): string => portsIn(value).join('-');

const address: Kind = {
  kind: 'address',
  insert({ projects, path, body }) {
    const addressType = text(body['addressType']) || 'EXTERNAL';
    oneOf('resource.addressType', addressType, 'EXTERNAL', 'INTERNAL');
    const networkTier = addressType === 'EXTERNAL' ? text(body['networkTier']) || 'PREMIUM' : undefined;
    const wanted = text(body['address']);
    const taken = projects.of('address').find((one) => one['address'] === wanted);
    if (wanted && taken) throw invalid('resource.address', wanted, 'is already reserved');
    const rule = projects.of('forwardingRule').find((one) => one['IPAddress'] === wanted);
    if (wanted && addressType === 'EXTERNAL' && !rule)
      throw invalid('resource.address', wanted, 'is not an address in use by this project');
    if (rule && addressType === 'EXTERNAL' && (rule['networkTier'] ?? 'PREMIUM') !== networkTier)
      throw invalid('resource.networkTier', networkTier, 'does not match the tier of the address');
    const kept = wanted || projects.newAddress(addressType === 'INTERNAL' ? 'INTERNAL' : 'EXTERNAL');
    if (addressType === 'INTERNAL' && body['subnetwork']) projects.mustGet(body['subnetwork'], projectIn(path));
    return { ...body, address: kept, addressType, ...(networkTier && { networkTier }), status: rule ? 'IN_USE' : 'RESERVED' };
  },
};

const rangesOverlap = (a: Resource | Body, b: Resource | Body): boolean => {
  if (a['allPorts'] || b['allPorts']) return true;
  const spans = (rule: Resource | Body) => (rule['ports'] ? list(rule['ports']) : [rule['portRange']]).map(portsIn);
  return spans(a).some(([from, to]) => spans(b).some(([low, high]) => from <= high && low <= to));
};

/** An address of a rule: reserved in the project, or none, and then any. */
function ruleAddress({ projects, path, body }: Target, scheme: string): string {
  const wanted = text(body['IPAddress']);
  if (wanted === '') return projects.newAddress(scheme === 'INTERNAL' ? 'INTERNAL' : 'EXTERNAL');
  const reserved = projects
    .of('address')
    .find((one) => one['address'] === wanted || pathIn(wanted, projectIn(path)) === pathIn(one.selfLink, ''));
  if (!reserved && scheme === 'EXTERNAL') throw invalid('resource.IPAddress', wanted, 'is not a reserved address');
  if (reserved && reserved['addressType'] !== scheme) throw invalid('resource.IPAddress', wanted, `is not ${scheme}`);
  if (reserved && scheme === 'EXTERNAL' && reserved['networkTier'] !== (text(body['networkTier']) || 'PREMIUM'))
    throw invalid('resource.networkTier', body['networkTier'], 'does not match the tier of the address');
  return text(reserved?.['address']) || wanted;
}

const forwardingRule: Kind = {
  kind: 'forwardingRule',
  insert(target) {
    const { projects, path, body } = target;
    const scheme = text(body['loadBalancingScheme']) || 'EXTERNAL';
    oneOf('resource.loadBalancingScheme', scheme, 'EXTERNAL', 'INTERNAL');
    oneOf('resource.IPProtocol', body['IPProtocol'], 'TCP', 'UDP');
    const ports = list(body['ports']);
    if (scheme === 'INTERNAL') {
      const service = projects.mustGet(body['backendService'], projectIn(path));
      if (service['protocol'] !== body['IPProtocol'])
        throw invalid('resource.IPProtocol', body['IPProtocol'], 'is not that of the backend service');
      if (ports.length > 5) throw invalid('resource.ports', ports.length, 'must have at most 5 items');
      if (ports.length === 0 && !body['allPorts']) throw invalid('resource.ports', '', 'must be given');
    } else {
      projects.mustGet(body['target'], projectIn(path));
      if (!text(body['portRange'])) throw invalid('resource.portRange', '', 'must be given');
    }
    const IPAddress = ruleAddress(target, scheme);
    const made: Body = {
      ...body,
      IPAddress,
      loadBalancingScheme: scheme,
      ...(body['portRange'] !== undefined && { portRange: rangeOf(body['portRange']) }),
      ...(scheme === 'EXTERNAL' && { networkTier: text(body['networkTier']) || 'PREMIUM' }),
      fingerprint: newFingerprint(),
    };
    const clash = projects
      .of('forwardingRule')
      .find((one) => one['IPAddress'] === IPAddress && one['IPProtocol'] === made['IPProtocol'] && rangesOverlap(one, made));
    if (clash) throw inUse(pathIn(clash.selfLink, ''), path);
    return made;
  },
  patch({ body }) {
    const fixed = Object.keys(body).filter(
      (field) => !['allowGlobalAccess', 'networkTier', 'labels', 'fingerprint'].includes(field),
    );
    if (fixed.length > 0) throw invalid(`resource.${fixed[0]}`, body[fixed[0] as string], 'cannot be changed');
    return body;
  },
};

const instanceLinks = ({ projects, path, body }: Target): string[] =>
  list(body['instances']).map((item) => {
    const link = typeof item === 'string' ? item : (item as { instance?: unknown }).instance;
    return projects.mustGet(link, projectIn(path)).selfLink;
  });
const checkLinks = ({ projects, path, body }: Target): string[] =>
  list(body['healthChecks']).map((item) => {
    const link = typeof item === 'string' ? item : (item as { healthCheck?: unknown }).healthCheck;
    return projects.mustGet(link, projectIn(path)).selfLink;
  });

const targetPool: Kind = {
  kind: 'targetPool',
  insert(target) {
    const { body } = target;
    if (list(body['instances']).length > 200) throw invalid('resource.instances', '', 'must have at most 200 items');
    const healthChecks = checkLinks(target);
    if (healthChecks.length > 1) throw invalid('resource.healthChecks', '', 'must have at most one item');
    const sessionAffinity = text(body['sessionAffinity']) || 'NONE';
    oneOf('resource.sessionAffinity', sessionAffinity, 'NONE', 'CLIENT_IP', 'CLIENT_IP_PROTO');
    return { ...body, sessionAffinity, healthChecks, instances: instanceLinks(target) };
  },
  actions: {
    addInstance: (target) => ({ instances: [...new Set([...list(target.there['instances']), ...instanceLinks(target)])] }),
    removeInstance({ body, there, path }) {
      const gone = list(body['instances']).map((item) => pathIn((item as { instance?: unknown }).instance, projectIn(path)));
      return { instances: list(there['instances']).filter((link) => !gone.includes(pathIn(link, ''))) };
    },
    addHealthCheck(target) {
      const healthChecks = [...new Set([...list(target.there['healthChecks']), ...checkLinks(target)])];
      if (healthChecks.length > 1) throw invalid('healthChecks', '', 'must have at most one item');
      return { healthChecks };
    },
    removeHealthCheck({ body, there, path }) {
      const gone = list(body['healthChecks']).map((item) =>
        pathIn((item as { healthCheck?: unknown }).healthCheck, projectIn(path)),
      );
      return { healthChecks: list(there['healthChecks']).filter((link) => !gone.includes(pathIn(link, ''))) };
    },
  },
};

const paceOf = (body: Body): Body => ({
  checkIntervalSec: 5,
  timeoutSec: 5,
  healthyThreshold: 2,
  unhealthyThreshold: 2,
  ...body,
});
function checkedPace(body: Body): Body {
  const made = paceOf(body);
  if (Number(made['timeoutSec']) > Number(made['checkIntervalSec']))
    throw invalid('resource.timeoutSec', made['timeoutSec'], 'must be at most checkIntervalSec');
  return made;
}
const httpHealthCheck: Kind = {
  kind: 'httpHealthCheck',
  insert: ({ body }) => checkedPace({ port: 80, requestPath: '/', ...body }),
  patch: ({ body, there }) => checkedPace({ ...there, ...body }),
};
const healthCheck: Kind = {
  kind: 'healthCheck',
  insert({ body }) {
    oneOf('resource.type', body['type'], 'HTTP', 'HTTPS', 'TCP', 'SSL', 'HTTP2', 'GRPC');
    return checkedPace(body);
  },
  patch: ({ body, there }) => checkedPace({ ...there, ...body }),
};

function checkedService({ projects, path, body }: Target): Body {
  oneOf('resource.protocol', body['protocol'], 'TCP', 'UDP');
  oneOf('resource.loadBalancingScheme', body['loadBalancingScheme'], 'INTERNAL', 'EXTERNAL');
  const healthChecks = list(body['healthChecks']).map((link) => projects.mustGet(link, projectIn(path)).selfLink);
  if (healthChecks.length !== 1) throw invalid('resource.healthChecks', healthChecks.length, 'must have one item');
  const backends = list(body['backends']).map((item) => {
    const backend = item as { group?: unknown };
    return { balancingMode: 'CONNECTION', ...backend, group: projects.mustGet(backend.group, projectIn(path)).selfLink };
  });
  const sessionAffinity = text(body['sessionAffinity']) || 'NONE';
  return {
    connectionDraining: { drainingTimeoutSec: 0 },
    ...body,
    healthChecks,
    backends,
    sessionAffinity,
    fingerprint: newFingerprint(),
  };
}
const backendService: Kind = {
  kind: 'backendService',
  insert: checkedService,
  patch({ projects, path, body, there }) {
    if (!body['fingerprint'] || body['fingerprint'] !== there['fingerprint']) throw conditionNotMet();
    const protocol = body['protocol'] ?? there['protocol'];
    const user = projects.userOf(path);
    if (protocol !== there['protocol'] && user) throw inUse(path, pathIn(user.selfLink, ''));
    return checkedService({ projects, path, body: { ...there, ...body } });
  },
};

const instanceGroup: Kind = {
  kind: 'instanceGroup',
  insert: ({ body }) => ({ ...body, members: [], size: 0, fingerprint: newFingerprint() }),
  actions: {
    addInstances(target) {
      const members = list(target.there['members']);
      const added = instanceLinks(target);
      const twice = added.find((link) => members.includes(link));
      if (twice) throw invalid('instances', twice, 'is already a member');
      return { members: [...members, ...added], size: members.length + added.length };
    },
    removeInstances({ body, there, path }) {
      const members = list(there['members']);
      const gone = list(body['instances']).map((item) => pathIn((item as { instance?: unknown }).instance, projectIn(path)));
      const missing = gone.find((link) => !members.some((member) => pathIn(member, '') === link));
      if (missing) throw notFound(missing);
      const left = members.filter((member) => !gone.includes(pathIn(member, '')));
      return { members: left, size: left.length };
    },
  },
};

function checkedFirewall({ projects, path, body }: Target): Body {
  const [allowed, denied] = [list(body['allowed']), list(body['denied'])];
  if (allowed.length > 0 === denied.length > 0) throw invalid('resource.allowed', '', 'must be given, or denied');
  const network = projects.mustGet(body['network'], projectIn(path)).selfLink;
  for (const range of list(body['sourceRanges']))
    if (!/^[\d.]+(\/\d{1,2})?$|^[\da-f:]+(\/\d{1,3})?$/i.test(text(range))) throw invalid('resource.sourceRanges', range);
  return { direction: 'INGRESS', priority: 1000, disabled: false, ...body, network };
}
const firewall: Kind = {
  kind: 'firewall',
  insert: checkedFirewall,
  patch: ({ projects, path, body, there }) => {
    const { allowed, denied, ...rest } = there;
    const rules =
      body['allowed'] || body['denied']
        ? {}
        : { ...(allowed !== undefined && { allowed }), ...(denied !== undefined && { denied }) };
    return checkedFirewall({ projects, path, body: { ...rest, ...rules, ...body } });
  },
};

const route: Kind = {
  kind: 'route',
  insert({ projects, path, body }) {
    const network = projects.mustGet(body['network'], projectIn(path)).selfLink;
    if (!text(body['destRange']).includes('/')) throw invalid('resource.destRange', body['destRange']);
    const nextHopInstance = projects.mustGet(body['nextHopInstance'], projectIn(path)).selfLink;
    return { priority: 1000, ...body, network, nextHopInstance };
  },
};

/** The kinds of resources by the last part of their collection's path. */
export const kinds: Readonly<Record<string, Kind>> = {
  addresses: address,
  forwardingRules: forwardingRule,
  targetPools: targetPool,
  httpHealthChecks: httpHealthCheck,
  healthChecks: healthCheck,
  backendServices: backendService,
  instanceGroups: instanceGroup,
  firewalls: firewall,
  routes: route,
};
