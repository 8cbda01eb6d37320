// Rules and probes of a load balancer for the ports of one Service and one address family. Pure.
import type { LoadBalancingRule, Probe } from '@azure/arm-network';
import { healthCheckOf, type ServicePort } from 'sagong/cloud-provider';
import { type AnnotationReader, annotationsOf } from 'sagong/cloud-provider/kit';
import * as limits from '../limits.ts';
import { type Family, ruleName, sharedProbeName } from '../names.ts';
import type { Settings } from '../settings.ts';
import { annotation, ofPort, portAnnotation, prefix } from './annotations.ts';
import { isDirect, type Plan } from './plan.ts';

export interface RulesOf {
  rules: LoadBalancingRule[];
  probes: Probe[];
}
export interface RulesPlace {
  balancerId: string;
  frontendId: string;
  poolId: string;
}

const transports: Readonly<Record<string, string>> = { TCP: 'Tcp', UDP: 'Udp', SCTP: 'All' };

interface Timing {
  intervalInSeconds: number;
  probeThreshold: number;
}

function timingOf(notes: AnnotationReader, port: number): Timing {
  const number = (ofOne: string, ofAll: string, min: number): number | undefined =>
    notes.integer(portAnnotation(port, ofOne), { min }) ?? notes.integer(prefix + ofAll, { min });
  const intervalInSeconds =
    number(ofPort.probeInterval, annotation.probeInterval, limits.probeIntervalSecondsMin) ?? limits.probeIntervalSeconds;
  const probeThreshold = number(ofPort.probeCount, annotation.probeCount, limits.probesFailedMin) ?? limits.probesFailedDefault;
  if (intervalInSeconds * probeThreshold >= limits.probeSecondsMax)
    throw new Error(
      `health probe of port ${port}: interval times number of probes is ${intervalInSeconds * probeThreshold} s, and must be less than ${limits.probeSecondsMax} s`,
    );
  return { intervalInSeconds, probeThreshold };
}

/** The node port to ask: of the port that the annotation names by name or number, or that number itself. */
function probedPort(plan: Plan, notes: AnnotationReader, port: number): number | undefined {
  const key = portAnnotation(port, ofPort.probePort);
  const wanted = notes.text(key);
  if (wanted === undefined) return undefined;
  const named = plan.ports.find(({ name }) => name?.toLowerCase() === wanted.toLowerCase());
  if (named) return named.nodePort;
  if (!/^\d{1,5}$/.test(wanted) || Number(wanted) > 65_535 || Number(wanted) === 0)
    throw new Error(`annotation ${key}: ${JSON.stringify(wanted)} is no port of the Service`);
  return plan.ports.find((one) => one.port === Number(wanted))?.nodePort ?? Number(wanted);
}

const protocols: Readonly<Record<string, 'Tcp' | 'Http' | 'Https'>> = { tcp: 'Tcp', http: 'Http', https: 'Https' };

/** An annotation must name a protocol that there is; an application protocol may be any. */
function probeProtocol(notes: AnnotationReader, { port, appProtocol }: ServicePort): 'Tcp' | 'Http' | 'Https' {
  const asked = (name: string): 'Tcp' | 'Http' | 'Https' | undefined => {
    const word = notes.text(name);
    if (word === undefined) return undefined;
    const known = protocols[word.toLowerCase()];
    if (!known) throw new Error(`annotation ${name}: ${JSON.stringify(word)} is not one of tcp, http, https`);
    return known;
  };
  const ofAll = asked(prefix + annotation.probeProtocol);
  const ofApplication = appProtocol ? (protocols[appProtocol.toLowerCase()] ?? 'Tcp') : undefined;
  return asked(portAnnotation(port, ofPort.probeProtocol)) ?? ofApplication ?? ofAll ?? 'Tcp';
}

/** The probe of a port alone; undefined where the probe of the whole Service asks for it, or it cannot be asked at all. */
function probeOfPort(plan: Plan, port: ServicePort, name: string, whole: Probe | undefined): Probe | undefined {
  const notes = annotationsOf(plan.service);
  if (whole?.name === sharedProbeName || (port.protocol ?? 'TCP') !== 'TCP') return undefined;
  const wanted = probedPort(plan, notes, port.port);
  if (wanted === undefined && whole) return undefined;
  const target = wanted ?? port.nodePort;
  // Without a node port nothing answers on the node itself.
  if (!target) return undefined;
  const protocol = probeProtocol(notes, port);
  const requestPath = notes.text(portAnnotation(port.port, ofPort.probePath)) ?? notes.text(prefix + annotation.probePath) ?? '/';
  return {
    name,
    protocol,
    port: target,
    ...timingOf(notes, port.port),
    requestPath: protocol === 'Tcp' ? undefined : requestPath,
  };
}

/** The probe of all ports: whether a node has endpoints, or, where all Services share one, whether it serves. */
function wholeProbe(plan: Plan, family: Family, settings: Settings): Probe | undefined {
  const { service, subnet } = plan;
  if (settings.sharedProbe && service.spec?.externalTrafficPolicy !== 'Local') {
    const { port, path } = settings.sharedProbe;
    const timing = { intervalInSeconds: limits.probeIntervalSeconds, probeThreshold: limits.probesFailedDefault };
    return { name: sharedProbeName, protocol: 'Http', port, requestPath: path, ...timing };
  }
  const check = healthCheckOf(service);
  if (!check) return undefined;
  const name = ruleName(service, family, subnet, 'TCP', check.port);
  return { name, protocol: 'Http', port: check.port, requestPath: check.path, ...timingOf(annotationsOf(service), check.port) };
}

function ruleFor(
  plan: Plan,
  family: Family,
  settings: Settings,
  place: RulesPlace,
  { protocol = 'TCP', port, nodePort }: Pick<ServicePort, 'protocol' | 'port' | 'nodePort'>,
): LoadBalancingRule {
  const direct = port !== 0 && isDirect(plan, family);
  return {
    protocol: transports[protocol] ?? protocol,
    frontendIPConfiguration: { id: place.frontendId },
    backendAddressPool: { id: place.poolId },
    frontendPort: port,
    backendPort: direct ? (nodePort ?? port) : port,
    enableFloatingIP: !direct,
    disableOutboundSnat: settings.disableOutboundSnat,
    loadDistribution: plan.affinity ? 'SourceIP' : 'Default',
    idleTimeoutInMinutes: plan.idleMinutes,
    enableTcpReset: (protocol === 'TCP' || port === 0) && plan.tcpReset,
  };
}

/** The probe as a rule names it. Undefined is a value: it takes away the probe that the rule has had. */
const reference = ({ balancerId }: RulesPlace, probe: Probe | undefined): Pick<LoadBalancingRule, 'probe'> => ({
  probe: probe && { id: `${balancerId}/probes/${probe.name}` },
});

const everything = { protocol: 'All', port: 0 };

/** Makes one rule for all ports; any of the Service's own probes will do for it. */
function everyPort(plan: Plan, family: Family, settings: Settings, place: RulesPlace): RulesOf {
  const { protocol: first = 'TCP', port = 0 } = plan.ports[0] ?? {};
  const name = ruleName(plan.service, family, plan.subnet, first, port);
  const whole = wholeProbe(plan, family, settings);
  const own = plan.ports.map((one) => probeOfPort(plan, one, name, undefined)).find((probe) => probe);
  const probe = whole ?? own;
  const rule = { name, ...ruleFor(plan, family, settings, place, everything), ...reference(place, probe) };
  return { rules: [rule], probes: probe ? [probe] : [] };
}

/** Throws for annotations that cannot be followed. */
export function rulesOf(plan: Plan, family: Family, settings: Settings, place: RulesPlace): RulesOf {
  if (plan.haPorts) return everyPort(plan, family, settings, place);
  const notes = annotationsOf(plan.service);
  const whole = wholeProbe(plan, family, settings);
  const made: RulesOf = { rules: [], probes: [] };
  for (const port of plan.ports) {
    const protocol = port.protocol ?? 'TCP';
    if (notes.boolean(portAnnotation(port.port, ofPort.noRule))) continue;
    const name = ruleName(plan.service, family, plan.subnet, protocol, port.port);
    const unasked = notes.boolean(portAnnotation(port.port, ofPort.noProbe));
    const probe = unasked ? undefined : (probeOfPort(plan, port, name, whole) ?? whole);
    if (probe && !made.probes.some((one) => one.name === probe.name)) made.probes.push(probe);
    made.rules.push({ name, ...ruleFor(plan, family, settings, place, port), ...reference(place, probe) });
  }
  return made;
}
