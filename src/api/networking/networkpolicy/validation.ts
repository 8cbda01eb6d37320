// Rules of network policies (pkg/apis/networking/validation, ValidateNetworkPolicySpec).
import type * as networking from '#api/networking/v1';
import { type Path, root } from '#apimachinery/field';
import { type IPPrefix, isPortName, isPortNumber, parseCIDR } from '#apimachinery/validation';
import { validateLegacyCIDR } from '../../common/ip.ts';
import { validateLabelSelector } from '../../common/labels.ts';
import { isEmpty, type Report } from '../../common/report.ts';

const directions = ['Ingress', 'Egress'];

export interface NetworkPolicyRules {
  allowInvalidValues: boolean;
  /** Prefixes that stay valid. */
  old: readonly string[];
}

interface Rule {
  path: Path;
  ports: networking.NetworkPolicyPort[];
  peers: networking.NetworkPolicyPeer[];
  peersPath: Path;
}

/** The rules of both directions in one form, ingress first. */
export function rulesOf({ spec = {} }: networking.NetworkPolicy): Rule[] {
  const ruleOf = (
    path: Path,
    field: string,
    { ports = [] }: networking.NetworkPolicyIngressRule,
    peers?: Rule['peers'],
  ): Rule => ({
    path,
    ports,
    peers: peers ?? [],
    peersPath: path.child(field),
  });
  return [
    ...(spec.ingress ?? []).map((rule, index) => ruleOf(root('spec', 'ingress').index(index), 'from', rule, rule.from)),
    ...(spec.egress ?? []).map((rule, index) => ruleOf(root('spec', 'egress').index(index), 'to', rule, rule.to)),
  ];
}

export function validateNetworkPolicy(report: Report, policy: networking.NetworkPolicy, rules: NetworkPolicyRules): void {
  const path = root('spec');
  validateLabelSelector(report, path.child('podSelector'), policy.spec?.podSelector ?? {}, rules.allowInvalidValues);
  for (const { path: at, ports, peers, peersPath } of rulesOf(policy)) {
    ports.forEach((port, index) => validatePort(report, at.child('ports').index(index), port));
    peers.forEach((peer, index) => validatePeer(report, peersPath.index(index), peer, rules));
  }
  const types = policy.spec?.policyTypes ?? [];
  const at = path.child('policyTypes');
  if (types.length > directions.length) return report.invalid(at, types, 'may not specify more than two policyTypes');
  types.forEach((type, index) => report.known(at.index(index), type, directions));
}

function validatePort(report: Report, path: Path, { protocol, port, endPort }: networking.NetworkPolicyPort): void {
  report.knownIfSet(path.child('protocol'), protocol, ['TCP', 'UDP', 'SCTP']);
  const end = path.child('endPort');
  if (typeof port === 'number') {
    report.problems(path.child('port'), port, isPortNumber(port));
    if (endPort === undefined) return;
    if (endPort < port) report.invalid(end, port, 'must be greater than or equal to `port`');
    return report.problems(end, endPort, isPortNumber(endPort));
  }
  if (endPort !== undefined) {
    const what = port === undefined ? 'not specified' : 'non-numeric';
    report.invalid(end, endPort, `may not be specified when \`port\` is ${what}`);
  }
  if (port !== undefined) report.problems(path.child('port'), port, isPortName(port));
}

function validatePeer(report: Report, path: Path, peer: networking.NetworkPolicyPeer, rules: NetworkPolicyRules): void {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  validateLabelSelector(report, path.child('podSelector'), podSelector, rules.allowInvalidValues);
  validateLabelSelector(report, path.child('namespaceSelector'), namespaceSelector, rules.allowInvalidValues);
  if (ipBlock) validateBlock(report, path.child('ipBlock'), ipBlock, rules);
  if (!podSelector && !namespaceSelector && !ipBlock) report.required(path, 'must specify a peer');
  else if (ipBlock && (podSelector || namespaceSelector)) report.forbidden(path, 'may not specify both ipBlock and another peer');
}

function validateBlock(report: Report, path: Path, { cidr, except }: networking.IPBlock, { old }: NetworkPolicyRules): void {
  if (isEmpty(cidr)) return report.required(path.child('cidr'));
  validateLegacyCIDR(report, path.child('cidr'), cidr, old);
  const outer = parseCIDR(cidr);
  if (!outer) return;
  except?.forEach((text, index) => {
    const at = path.child('except').index(index);
    validateLegacyCIDR(report, at, text, old);
    const inner = parseCIDR(text);
    if (inner && !isWithin(inner, outer)) report.invalid(at, text, 'must be a strict subset of `cidr`');
  });
}

/** A proper part of the other prefix. */
function isWithin(inner: IPPrefix, outer: IPPrefix): boolean {
  if (inner.address.family !== outer.address.family || inner.length <= outer.length) return false;
  const rest = BigInt((outer.address.family === 4 ? 32 : 128) - outer.length);
  return inner.network.value >> rest === outer.network.value >> rest;
}
