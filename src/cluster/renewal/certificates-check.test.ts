import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubeconfigFor, readKubeconfig, writeKubeconfig } from '#client';
import { systemClock } from '#host';
import { isSignedBy, issueCertificate, parseCertificate } from '#pki';
import { clientConfigFor, type ClusterPki, openPki } from '../certificates/certificates.ts';
import { certificateTables, clusterCertificates, isAging, renewCertificates, residual } from './certificates-check.ts';
import { identities } from '../certificates/identities.ts';

let dir = '';
let pki: ClusterPki;
const day = 86_400_000;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-certs-'));
  pki = await openPki(join(dir, 'pki'));
  const node = join(dir, 'nodes', 'node-1');
  await mkdir(node, { recursive: true });
  const old = issueCertificate({
    ca: pki.authority,
    commonName: 'system:node:node-1',
    dnsNames: ['node-1'],
    ips: ['10.77.0.11'],
    usages: ['server auth'],
    notBefore: Date.now() - 300 * day,
    notAfter: Date.now() + 65 * day,
  });
  await writeFile(join(node, 'kubelet.crt'), old.cert);
  await writeFile(join(node, 'kubelet.key'), old.key);
  await writeFile(join(node, 'ca.crt'), pki.authority.cert);
  await writeKubeconfig(
    join(dir, 'kubeconfig'),
    kubeconfigFor('c', clientConfigFor(pki, identities.admin, 'https://127.0.0.1:1')),
  );
});
afterAll(() => rm(dir, { recursive: true }));

it('shows every certificate and authority as kubeadm does', async () => {
  const { certificates, authorities } = await certificateTables(dir, systemClock());
  expect(certificates).toMatchObject([
    ['kubeconfig', expect.stringMatching(/^\w{3} \d\d, \d{4} \d\d:\d\d UTC$/) as string, '364d', 'ca', 'no'],
    ['nodes/node-1/kubelet', expect.any(String) as string, '64d', 'ca', 'no'],
  ]);
  expect(authorities.map(([name, , left]) => [name, left])).toEqual([
    ['ca', '9y'],
    ['front-proxy-ca', '9y'],
    ['kubelet-serving-ca', '9y'],
  ]);
});

it('renews one whose key is that of another, as a renewal leaves it that is cut off', async () => {
  const path = join(dir, 'nodes', 'node-2', 'kubelet');
  await mkdir(join(dir, 'nodes', 'node-2'), { recursive: true });
  const [one, other] = [1, 2].map(() =>
    issueCertificate({ ca: pki.authority, commonName: 'system:node:node-2', usages: ['server auth'], days: 365 }),
  );
  await writeFile(`${path}.crt`, one?.cert ?? '');
  await writeFile(`${path}.key`, other?.key ?? '');
  const due = async () =>
    (await clusterCertificates(dir)).filter((kept) => kept.name.includes('node-2') && isAging(kept, systemClock()));
  expect(await due()).toHaveLength(1);
  expect(await renewCertificates(dir, ({ name }) => name.includes('node-2'))).toEqual(['nodes/node-2/kubelet']);
  expect(await due()).toEqual([]);
  await rm(join(dir, 'nodes', 'node-2'), { recursive: true });
});

it('renews for a node nothing but its own: not what its pods have put on its disk', async () => {
  const disk = join(dir, 'nodes', 'node-3');
  await mkdir(disk);
  const issue = (commonName: string, organizations: string[] = []) =>
    issueCertificate({ ca: pki.authority, commonName, organizations, usages: ['client auth'], days: 365 });
  const [own, server, admin] = [
    issue('system:node:node-3'),
    issue('kube-apiserver'),
    issue('kubernetes-admin', ['system:masters']),
  ];
  // With another key each of them looks like a renewal that was cut off.
  const plant = async (name: string, cert: string): Promise<void> => {
    await writeFile(join(disk, `${name}.crt`), cert);
    await writeFile(join(disk, `${name}.key`), own.key);
  };
  await plant('other', server.cert);
  await plant('kubelet', server.cert);
  await mkdir(join(disk, 'control-plane', 'pki'), { recursive: true });
  await writeFile(join(disk, 'control-plane', 'pki', 'front-proxy-client.crt'), admin.cert);
  await writeFile(join(disk, 'control-plane', 'pki', 'front-proxy-client.key'), own.key);
  await symlink(join(dir, 'kubeconfig'), join(disk, 'kubelet.kubeconfig'));
  await writeFile(join(disk, 'coredns.kubeconfig'), 'no kubeconfig: [');
  const ofDisk = ({ name }: { name: string }): boolean => name.includes('node-3');
  expect((await clusterCertificates(dir)).filter(ofDisk)).toEqual([]);
  expect(await renewCertificates(dir, ofDisk)).toEqual([]);
  await plant('kubelet', issue('system:node:node-1').cert);
  expect(await renewCertificates(dir, ofDisk)).toEqual([]);
  await plant('kubelet', issue('system:node:node-3').cert);
  expect(await renewCertificates(dir, ofDisk)).toEqual(['nodes/node-3/kubelet']);
  expect(await readFile(join(disk, 'other.crt'), 'utf8')).toBe(server.cert);
  await rm(disk, { recursive: true });
});

it('renews what is old, for the same names and with another key, and leaves the rest', async () => {
  const path = join(dir, 'nodes', 'node-1', 'kubelet.crt');
  const [before, kubeconfig] = [parseCertificate(await readFile(path, 'utf8')), await readFile(join(dir, 'kubeconfig'), 'utf8')];
  expect(await renewCertificates(dir, (kept) => isAging(kept, systemClock()))).toEqual(['nodes/node-1/kubelet']);
  const after = parseCertificate(await readFile(path, 'utf8'));
  expect(after).toMatchObject({ subject: before.subject, dnsNames: ['node-1'], ips: ['10.77.0.11'], usages: before.usages });
  expect(after.fingerprint).not.toBe(before.fingerprint);
  expect(isSignedBy(after, pki.authority.certificate)).toBe(true);
  expect(await readFile(join(dir, 'kubeconfig'), 'utf8')).toBe(kubeconfig);
});

it('renews the certificate in a kubeconfig', async () => {
  expect(await renewCertificates(dir, ({ name }) => name === 'kubeconfig')).toEqual(['kubeconfig']);
  const [user] = readKubeconfig(join(dir, 'kubeconfig')).users;
  const cert = parseCertificate(Buffer.from(user?.user['client-certificate-data'] ?? '', 'base64').toString('utf8'));
  expect(cert.subject).toMatchObject({ commonName: 'kubernetes-admin', organizations: ['system:masters'] });
  expect((await clusterCertificates(dir)).map(({ authority }) => authority)).toEqual(['ca', 'ca']);
});

it.each([
  [-5_000, '<invalid>'],
  [0, '0s'],
  [90_000, '1m'],
  [7_200_000, '2h'],
  [364 * day, '364d'],
  [3649 * day, '9y'],
])('%d ms are %s', (ms, text) => expect(residual(ms)).toBe(text));
