// TLS bootstrap of a kubelet and the renewal of its certificates, against the real apiserver with the control loops that approve and sign.
import { mkdtemp, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateManager, createClient, kubeconfigFor, loadClientConfig, readCurrent, writeKubeconfig } from '#client';
import {
  kubeletTrust,
  type ControlPlane,
  createToken,
  ephemeralPki,
  identities,
  publishJoining,
  startControlPlane,
  startJoiningLoops,
} from '#cluster';
import { systemClock, systemRng } from '#host';
import { openIdentity, renewServing } from '#kubelet';
import { type CertificateAuthority, isSignedBy, type ParsedCertificate, parseCertificates } from '#pki';
import { silentLogger } from '#utils';
import { serve } from '#wire';

const clock = systemClock();
const deps = { clock, rng: systemRng(), logger: silentLogger };
const pki = ephemeralPki();
let directory = '';
let plane: ControlPlane;
let joining: { stop(): Promise<void> };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'certificates-'));
  plane = await startControlPlane({ dataDir: '', pki, port: 0, advertiseAddress: '127.0.0.1', joinable: true }, deps);
  await plane.apiserver.started;
  await plane.startLoops();
  const facts = {
    cluster: 'test',
    endpoint: new URL(plane.apiserver.url).host,
    ca: pki.authority.cert,
    kubeletTrust: kubeletTrust(pki),
    podCidr: '10.244.0.0/16',
    growing: false,
    proxyMode: 'iptables',
    networkPolicy: 'nftables',
    args: {},
  } as const;
  await publishJoining(plane, facts);
  joining = await startJoiningLoops(plane, deps, true);
});
afterAll(async () => {
  await joining.stop();
  await plane.stop();
  await rm(directory, { recursive: true, force: true });
});

const admin = () => plane.client(identities.admin, 'test');
const nodes = { group: '', version: 'v1', resource: 'nodes' };
const leafOf = (pem: string) => parseCertificates(pem)[0];

async function bootstrapped(nodeName: string) {
  const token = await createToken(admin(), { ttlMs: 600_000 }, clock);
  const bootstrapKubeconfig = join(directory, `${nodeName}-bootstrap.conf`);
  await writeKubeconfig(bootstrapKubeconfig, kubeconfigFor('b', { server: plane.apiserver.url, ca: pki.authority.cert, token }));
  const files = { kubeconfig: join(directory, `${nodeName}.conf`), certDir: join(directory, nodeName) };
  return { nodeName, bootstrapKubeconfig, ...files, rotate: true };
}

describe('a kubelet with a bootstrap token', () => {
  test('gets a client certificate and a kubeconfig, and does not need the token again', async () => {
    const options = await bootstrapped('one');
    const identity = await openIdentity(options, deps);
    await identity.client.resource(nodes).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'one' } });
    identity.close();
    const config = loadClientConfig(options.kubeconfig, {});
    expect(leafOf(config.certificate ?? '')?.subject).toMatchObject({
      commonName: 'system:node:one',
      organizations: ['system:nodes'],
    });
    expect(await readlink(join(options.certDir, 'kubelet-client-current.pem'))).toMatch(/^kubelet-client-\d{4}-.*\.pem$/);
    const again = await openIdentity({ ...options, bootstrapKubeconfig: '/nowhere' }, deps);
    await again.client.resource(nodes).get('one');
    again.close();
  });

  test('is refused with a token that is none', async () => {
    const options = await bootstrapped('two');
    const config = { server: plane.apiserver.url, ca: pki.authority.cert, token: 'ffffff.ffffffffffffffff' };
    await writeKubeconfig(options.bootstrapKubeconfig, kubeconfigFor('b', config));
    const patience = new AbortController();
    const opening = openIdentity(
      options,
      { ...deps, logger: { ...silentLogger, error: () => patience.abort(new Error('refused')) } },
      patience.signal,
    );
    await expect(opening).rejects.toThrow();
  });
});

test('a certificate is renewed before its end, connections go on, and old files go', async () => {
  const options = await bootstrapped('three');
  (await openIdentity(options, deps)).close();
  const first = await readCurrent(options.certDir, 'kubelet-client');
  const used: string[] = [];
  const { promise: renewed, resolve } = deferred();
  const manager = new CertificateManager(
    {
      dir: options.certDir,
      name: 'kubelet-client',
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      subject: () => ({ commonName: 'system:node:three', organizations: ['system:nodes'] }),
      client: () => createClient(plane.apiserver.transport(identities.node('three'), 'kubelet')),
      onChange({ cert }) {
        used.push(cert);
        if (used.length > 1) resolve();
      },
    },
    // Eleven months on.
    { ...deps, clock: { ...clock, now: () => clock.now() + 335 * 24 * 3_600_000 } },
  );
  manager.run();
  await renewed;
  manager.close();
  const second = await readCurrent(options.certDir, 'kubelet-client');
  expect(second?.cert).toBe(used.at(-1));
  expect(leafOf(second?.cert ?? '')?.serialNumber).not.toBe(leafOf(first?.cert ?? '')?.serialNumber);
});

test('a certificate of another name, from before there was this one, is used until there is the right one', async () => {
  const options = await bootstrapped('named');
  (await openIdentity(options, deps)).close();
  const name = 'kube-network-policy';
  const { cert, key } = pki.client(identities.networkPolicy.name, []);
  await writeFile(join(options.certDir, `${name}-current.pem`), `${cert.trimEnd()}\n${key}`);
  const used: string[] = [];
  const { promise: renewed, resolve } = deferred();
  const manager = new CertificateManager(
    {
      dir: options.certDir,
      name,
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth'],
      subject: () => ({ commonName: identities.networkPolicyOf('named').name }),
      client: () => createClient(plane.apiserver.transport(identities.node('named'), 'kubelet')),
      onChange(pair) {
        used.push(leafOf(pair.cert)?.subject.commonName ?? '');
        if (used.length > 1) resolve();
      },
    },
    deps,
  );
  manager.run();
  await renewed;
  manager.close();
  expect(used).toEqual([identities.networkPolicy.name, 'system:kube-network-policy:named']);
});

test('a serving certificate is for the addresses that the Node has, and another one when they change', async () => {
  const options = await bootstrapped('four');
  const { client, close } = await openIdentity(options, deps);
  const node = await client.resource(nodes).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'four' } });
  const tell = (...ips: string[]) =>
    client
      .resource<object & { metadata: object; status?: object }>(nodes)
      .patch(
        'four',
        'application/merge-patch+json',
        { status: { addresses: ips.map((address) => ({ type: 'InternalIP', address })) } },
        { subresource: 'status' },
      );
  expect(node.metadata.name).toBe('four');
  const before = pki.serving('four', { ips: ['127.0.0.1'] });
  const server = await serve({ tls: before, onRequest: (_request, response) => response.send(200, {}, 'ok') });
  let seen: ((names: string[]) => void) | undefined;
  const reloads = new Proxy(server, {
    get: (target, name, receiver) =>
      name === 'reloadTls'
        ? (tls: { cert: string }) => {
            server.reloadTls(tls as never);
            seen?.([...(leafOf(tls.cert)?.ips ?? [])]);
          }
        : Reflect.get(target, name, receiver),
  });
  const next = () => new Promise<string[]>((resolve) => (seen = resolve));
  let addresses = ['10.9.0.1'];
  const first = next();
  const renewal = renewServing(
    {
      nodeName: 'four',
      hostname: 'four',
      certDir: options.certDir,
      addresses: () => addresses,
      client,
      server: reloads,
      tls: before,
    },
    deps,
  );
  await tell('10.9.0.1');
  expect(await first).toEqual(['10.9.0.1']);
  // Whoever talks this out of the cluster is no apiserver to anybody: clients know those by another authority.
  const issued = leafOf((await readCurrent(options.certDir, 'kubelet-server'))?.cert ?? '') as ParsedCertificate;
  expect(isSignedBy(issued, (pki.kubeletAuthority as CertificateAuthority).certificate)).toBe(true);
  expect(isSignedBy(issued, pki.authority.certificate)).toBe(false);
  const second = next();
  addresses = ['10.9.0.1', '10.9.0.2'];
  await tell(...addresses);
  (renewal as unknown as CertificateManager).wake();
  expect(await second).toEqual(['10.9.0.1', '10.9.0.2']);
  renewal.close();
  close();
  await server.close({ graceMs: 0 });
});

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
