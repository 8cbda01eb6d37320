// Approves what joined machines ask for and upstream's approver leaves to others: serving certificates of kubelets for addresses that their Node has,
// and client certificates of the programs beside a kubelet.
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { Node, Service } from '#api/core/v1';
import { defineController, ownKey, type Plan, watch } from '#controller-runtime';
import { certificateSigningRequests, nodes } from '#controller-runtime/platform';
import { services } from '#controller-runtime/workload';
import { allow, recordEvents } from '#controller-runtime/workload';
import { type CertificateRequest, parseCertificateRequest } from '#pki';
import { identities } from '../certificates/identities.ts';

type Csr = CertificateSigningRequest;

const servingSigner = 'kubernetes.io/kubelet-serving';
const clientSigner = 'kubernetes.io/kube-apiserver-client';
const nodePrefix = 'system:node:';
/** How long to wait for the addresses of a new Node, which its kubelet writes a moment after it asked. */
const againMs = 1_000;
/** Longer, and nobody waits for it any more. */
const patienceMs = 15 * 60_000;

const same = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((one) => b.includes(one));

const withoutAuthenticated = (groups: readonly string[]): string[] => groups.filter((group) => group !== 'system:authenticated');

/** The groups of a program that runs beside the kubelet of that node, by the name in its certificate; undefined where no program has that name. */
const groupsBeside = (commonName: string, node: string): string[] | undefined =>
  [identities.kubeProxy, identities.dns, identities.networkPolicyOf(node)]
    .filter(({ name }) => name === commonName)
    .map(({ groups }) => withoutAuthenticated(groups))[0];

interface ApprovalView {
  request: Csr | undefined;
  /** That of the sender. */
  node: Node | undefined;
  /** All Nodes, including that of the sender. */
  others: readonly Node[];
  /** Addresses under which pods reach the apiserver. */
  service: readonly string[];
}

/** Names by which clients know the apiserver, or themselves: of no node, however it is called. */
const isReserved = (name: string): boolean =>
  name === 'localhost' || /^kubernetes(\.default(\.|$)|$)/.test(name) || /(^|\.)(svc|cluster\.local)(\.|$)/.test(name);

const addressesOf = ({ status }: Node): string[] => (status?.addresses ?? []).map(({ address }) => address);

/** Where two nodes claim an address, the Node that was created first keeps it. */
const isBefore = (a: Node, b: Node): boolean => {
  const [first, second] = [a, b].map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') || 0) as [number, number];
  return first < second || (first === second && (a.metadata.name ?? '') < (b.metadata.name ?? ''));
};

/** Names of hosts do not differ by their case, nor by the dot of the root. */
const plain = (name: string): string => name.toLowerCase().replace(/\.$/, '');
const isSameName = (a: string | undefined, b: string): boolean => a !== undefined && plain(a) === plain(b);

const isLoopback = (ip: string): boolean => /^(127\.|0\.0\.0\.0$|::1?$|::ffff:127\.)/i.test(ip);

/**
 * A node says itself which addresses it has: never one by which others are known. The name of a Node is its own, whoever was there first; an asterisk stands
 * for names of everybody.
 */
function isForeign(name: string, node: Node, { others, service }: ApprovalView): boolean {
  if (isLoopback(name) || service.includes(name) || name.includes('*')) return true;
  const strangers = others.filter((one) => one.metadata.name !== node.metadata.name);
  if (strangers.some(({ metadata }) => isSameName(metadata.name, name))) return true;
  if (isSameName(node.metadata.name, name)) return false;
  return strangers.some((one) => isBefore(one, node) && addressesOf(one).some((address) => isSameName(address, name)));
}

const hasAny = (names: CertificateRequest, keys: readonly ('dnsNames' | 'ips' | 'emails' | 'uris')[]): boolean =>
  keys.some((key) => names[key].length > 0);

/** Why it is not approved; 'later': because of what the Node does not say yet; undefined: it is approved. */
function objection(view: ApprovalView, asked: CertificateRequest): string | undefined {
  const { request, node } = view;
  const { spec } = request as Csr;
  const { commonName, organizations } = asked.subject;
  const usages = (spec.usages ?? []).filter((usage) => usage !== 'digital signature' && usage !== 'key encipherment');
  if (spec.signerName === clientSigner) {
    const groups = groupsBeside(commonName, spec.username?.slice(nodePrefix.length) ?? '');
    if (!groups || !same(groups, organizations)) return 'it is not for a program of a node';
    return same(usages, ['client auth']) && !hasAny(asked, ['dnsNames', 'ips', 'emails', 'uris'])
      ? undefined
      : 'it asks for more';
  }
  if (commonName !== spec.username || !same(organizations, ['system:nodes'])) return 'it is for somebody else';
  if (!same(usages, ['server auth']) || hasAny(asked, ['emails', 'uris'])) return 'it asks for more';
  if (asked.dnsNames.some((name) => isReserved(plain(name))) || asked.ips.some(isLoopback))
    return 'it asks for names of the apiserver';
  const known = new Set([...(node ? addressesOf(node) : []), node?.metadata.name ?? '']);
  if (!node || ![...asked.dnsNames, ...asked.ips].every((name) => known.has(name))) return 'later';
  const foreign = [...asked.dnsNames, ...asked.ips].some((name) => isForeign(name, node, view));
  return foreign ? 'it asks for an address or a name of somebody else' : undefined;
}

export function reconcileApproval(view: ApprovalView, now: number): Plan {
  const { request } = view;
  if (!request || request.status?.certificate || (request.status?.conditions ?? []).length > 0) return { effects: [] };
  const { signerName, username = '', groups = [] } = request.spec;
  if (signerName !== servingSigner && signerName !== clientSigner) return { effects: [] };
  if (!username.startsWith(nodePrefix) || !groups.includes('system:nodes')) return { effects: [] };
  const why = objection(view, parseCertificateRequest(Buffer.from(request.spec.request ?? '', 'base64')));
  if (why === 'later') {
    const age = now - Date.parse(request.metadata.creationTimestamp ?? '');
    const because = 'It names addresses that the Node does not have.';
    return { effects: [], because, ...(age < patienceMs && { requeueAfterMs: againMs }) };
  }
  if (why !== undefined) return { effects: [], because: `It is left to others: ${why}.` };
  const message = 'Auto approving a certificate of a node for what its Node has.';
  const approval = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  const object: Csr = { ...request, status: { ...request.status, conditions: [approval] } };
  return { effects: [{ op: 'update', resource: certificateSigningRequests, subresource: 'approval', object }], because: message };
}

export const nodeCertificateApprover = defineController<ApprovalView>({
  name: 'node-certificate-approver',
  for: certificateSigningRequests,
  rights: [
    allow('get,list,watch', 'certificates.k8s.io', 'certificatesigningrequests'),
    allow('update', 'certificates.k8s.io', 'certificatesigningrequests/approval'),
    { ...allow('approve', 'certificates.k8s.io', 'signers'), resourceNames: [servingSigner, clientSigner] },
    allow('get,list,watch', 'core', 'nodes,services'),
    recordEvents,
  ],
  watches: [
    watch<Csr>({ resource: certificateSigningRequests, keys: (request) => ownKey(request) }),
    watch<Node>({ resource: nodes, keys: () => [] }),
    watch<Service>({ resource: services, keys: () => [] }),
  ],
  view(key, cache) {
    const request = cache.get<Csr>(certificateSigningRequests, '', key);
    const name = request?.spec.username?.slice(nodePrefix.length) ?? '';
    const { clusterIP = '', clusterIPs = [] } = cache.get<Service>(services, 'default', 'kubernetes')?.spec ?? {};
    return {
      request,
      node: cache.get<Node>(nodes, '', name),
      others: cache.list<Node>(nodes),
      service: [clusterIP, ...clusterIPs],
    };
  },
  reconcile: reconcileApproval,
});
