// Which certificates nodes get without anybody's word.
import { describe, expect, it } from 'vitest';
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { Node } from '#api/core/v1';
import { createCertificateRequest, generateKeyPair, type SubjectOptions } from '#pki';
import { reconcileApproval } from './approver.ts';

const now = Date.parse('2026-05-01T00:00:00Z');
const { privateKey } = generateKeyPair();
const serving = 'kubernetes.io/kubelet-serving';
const client = 'kubernetes.io/kube-apiserver-client';
const node: Node = {
  metadata: { name: 'a' },
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'Hostname', address: 'a' },
    ],
  },
};
const own: SubjectOptions = { commonName: 'system:node:a', organizations: ['system:nodes'], dnsNames: ['a'], ips: ['10.0.0.1'] };
const accounts = 'system:serviceaccount:kube-system:';
const proxy: SubjectOptions = { commonName: 'system:kube-proxy' };

function csr(
  signerName: string,
  subject: SubjectOptions,
  more: Partial<CertificateSigningRequest['spec']> = {},
): CertificateSigningRequest {
  return {
    metadata: { name: 'csr-1', creationTimestamp: '2026-04-30T23:59:00Z' },
    spec: {
      request: Buffer.from(createCertificateRequest({ ...subject, privateKey })).toString('base64'),
      signerName,
      usages: ['digital signature', signerName === serving ? 'server auth' : 'client auth'],
      username: 'system:node:a',
      groups: ['system:nodes', 'system:authenticated'],
      ...more,
    },
  };
}

const service = ['10.96.0.1'];
const isApproved = (request: CertificateSigningRequest, of: Node | undefined = node, others: readonly Node[] = []): boolean =>
  reconcileApproval({ request, node: of, others, service }, now).effects.some(
    (effect) => effect.op === 'update' && effect.subresource === 'approval',
  );

describe('certificates of nodes', () => {
  it.each<[string, CertificateSigningRequest, boolean]>([
    ['a serving certificate for its own addresses', csr(serving, own), true],
    ['one for an address of somebody else', csr(serving, { ...own, ips: ['10.0.0.2'] }), false],
    ['one for the name of the apiserver', csr(serving, { ...own, dnsNames: ['kubernetes'] }), false],
    ['one for another node', csr(serving, { ...own, commonName: 'system:node:b' }), false],
    ['one that somebody else asks for', csr(serving, own, { username: 'mallory', groups: [] }), false],
    ['one of a user with the name of a node', csr(serving, own, { groups: ['system:authenticated'] }), false],
    ['one that is for clients, too', csr(serving, own, { usages: ['server auth', 'client auth'] }), false],
    ['that of kube-proxy', csr(client, proxy), true],
    ['that of the name server', csr(client, dnsSubject()), true],
    ['that of what enforces network policies on it', csr(client, { commonName: 'system:kube-network-policy:a' }), true],
    ['that of what enforces them on another node', csr(client, { commonName: 'system:kube-network-policy:b' }), false],
    [
      'that of what enforces them on all nodes',
      csr(client, { ...dnsSubject(), commonName: `${accounts}kube-network-policy` }),
      false,
    ],
    ['kube-proxy as an administrator', csr(client, { ...proxy, organizations: ['system:masters'] }), false],
    ['that of an administrator', csr(client, { commonName: 'kubernetes-admin', organizations: ['system:masters'] }), false],
    ['that of another service account', csr(client, { ...dnsSubject(), commonName: `${accounts}default` }), false],
    ['kube-proxy for a user', csr(client, proxy, { username: 'mallory', groups: ['system:authenticated'] }), false],
    ['the legacy signer', csr('kubernetes.io/legacy-unknown', proxy), false],
  ])('%s', (_what, request, expected) => {
    expect(isApproved(request)).toBe(expected);
  });
  it('waits for the addresses of a new Node', () => {
    expect(reconcileApproval({ request: csr(serving, own), node: undefined, others: [], service }, now)).toMatchObject({
      effects: [],
      requeueAfterMs: 1_000,
    });
  });
  const calling = (name: string, ...addresses: string[]): Node => ({
    metadata: { name, creationTimestamp: '2026-04-01T00:00:00Z' },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  });
  it.each([
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'localhost',
    'a.svc',
  ])('never names the apiserver, whatever its Node says: %s', (name) => {
    expect(isApproved(csr(serving, { ...own, dnsNames: [name] }), calling('a', name))).toBe(false);
    const subject = { ...own, commonName: `system:node:${name}`, dnsNames: [name], ips: [] };
    expect(isApproved(csr(serving, subject, { username: `system:node:${name}` }), calling(name))).toBe(false);
  });
  it.each(['127.0.0.1', '::1', '0.0.0.0', '10.96.0.1', '10.0.0.9'])(
    'never has an address of others, whatever its Node says: %s',
    (ip) => {
      const elder = { ...calling('first', '10.0.0.9'), metadata: { name: 'first', creationTimestamp: '2026-03-01T00:00:00Z' } };
      expect(isApproved(csr(serving, { ...own, ips: [ip] }), calling('a', ip), [elder, calling('a', ip)])).toBe(false);
    },
  );
  it.each(['first', 'FIRST', 'first.', 'later', '*', '*.example', 'first.example', 'KUBERNETES.default'])(
    'never has a name of others, whatever its Node says: %s',
    (name) => {
      const at = (creationTimestamp: string, { metadata, status }: Node): Node => ({
        metadata: { ...metadata, creationTimestamp },
        ...(status && { status }),
      });
      const others = [
        at('2026-03-01T00:00:00Z', calling('first', '10.0.0.9', 'first.example')),
        // A name is a Node's own, also when it was made after another one had claimed it.
        at('2026-04-09T00:00:00Z', calling('later', '10.0.0.8')),
      ];
      expect(isApproved(csr(serving, { ...own, dnsNames: [name] }), calling('a', name, '10.0.0.1'), others)).toBe(false);
    },
  );
  it('has its own name, whoever claims it too', () => {
    const elder = { ...calling('first', 'a'), metadata: { name: 'first', creationTimestamp: '2026-03-01T00:00:00Z' } };
    expect(isApproved(csr(serving, own), calling('a', '10.0.0.1'), [elder])).toBe(true);
  });
  it('keeps its address when a node that came later says that it has it', () => {
    const later = { ...calling('b', '10.0.0.1'), metadata: { name: 'b', creationTimestamp: '2026-04-02T00:00:00Z' } };
    expect(isApproved(csr(serving, { ...own, dnsNames: [] }), calling('a', '10.0.0.1'), [later])).toBe(true);
  });
  it('says nothing about what is decided', () => {
    const denied = { ...csr(serving, own), status: { conditions: [{ type: 'Denied', status: 'True' }] } };
    expect(isApproved(denied)).toBe(false);
  });
});

function dnsSubject(): SubjectOptions {
  const organizations = ['system:serviceaccounts', 'system:serviceaccounts:kube-system'];
  return { commonName: 'system:serviceaccount:kube-system:coredns', organizations };
}
