import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCertificates } from '#pki';
import { systemClock } from '#host';
import { parseFlags } from '../flags/index.ts';
import { delegatedAuthFlags, secureServingFlags } from './flags.ts';
import { delegatedAuthOptions, secureServingOptions, selfSignedCertificate } from './options.ts';

const clock = systemClock();
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'sagong-serving-'));
  for (const name of ['one', 'two']) {
    const { cert, key } = selfSignedCertificate(name, clock);
    await writeFile(join(dir, `${name}.crt`), cert);
    await writeFile(join(dir, `${name}.key`), key);
  }
});
afterAll(() => rm(dir, { recursive: true, force: true }));
const options = (...argv: string[]) =>
  secureServingOptions(parseFlags(secureServingFlags({ port: 10_258 }), argv).values, 'thing', clock);
const nameOf = (pem: string | Buffer | undefined): string | undefined => pem && parseCertificates(pem)[0]?.subject.commonName;
const pair = (name: string): string => `${join(dir, `${name}.crt`)},${join(dir, `${name}.key`)}`;

describe('flags of serving', () => {
  it('make a certificate in memory, of TLS 1.2 and up', async () => {
    const made = await options();
    expect(made).toMatchObject({ listen: { host: '0.0.0.0', port: 10_258 }, tls: { minVersion: 'TLSv1.2' } });
    expect(nameOf(made?.tls.cert)).toBe('thing');
    expect(await options('--secure-port=0')).toBeUndefined();
  });
  it('choose ciphers, curves, versions and certificates by name', async () => {
    const chosen = await options(
      '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256',
      '--tls-curve-preferences=29,23',
      '--tls-min-version=VersionTLS13',
      `--tls-sni-cert-key=${pair('one')}`,
      `--tls-sni-cert-key=${pair('two')}:*.example.org,exact.example.com`,
      '--disable-http2-serving',
      '--http2-max-streams-per-connection=7',
    );
    const { tls } = chosen ?? {};
    expect(tls).toMatchObject({ minVersion: 'TLSv1.3', curves: 'X25519:P-256', http2: false });
    expect(tls?.ciphers).toMatch(/:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384$/);
    createSecureContext({ ciphers: tls?.ciphers, ecdhCurve: tls?.curves });
    expect(chosen?.streamsMax).toBe(7);
    const served = ['one', 'LOCALHOST', 'a.example.org', 'a.b.example.org', 'exact.example.com', 'other'].map((name) =>
      nameOf(tls?.sni?.(name)?.cert),
    );
    expect(served).toEqual(['one', 'one', 'two', undefined, 'two', undefined]);
  });
  it('offer no suite of TLS 1.2 that was not asked for', async () => {
    const ciphers = async (...flags: string[]) =>
      (await options(...flags))?.tls.ciphers?.split(':').filter((name) => !name.startsWith('TLS_'));
    expect(await ciphers()).toBeUndefined();
    expect(await ciphers('--tls-cipher-suites=TLS_AES_128_GCM_SHA256')).toEqual([]);
    expect(await ciphers('--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA')).toEqual(['AES128-SHA']);
  });
  it('keep a made certificate in --cert-dir, its key to themselves', async () => {
    const certDir = join(dir, 'kept');
    const first = await options(`--cert-dir=${certDir}`);
    expect((await readdir(certDir)).sort()).toEqual(['thing.crt', 'thing.key']);
    expect((await stat(join(certDir, 'thing.key'))).mode & 0o777).toBe(0o600);
    expect((await options(`--cert-dir=${certDir}`))?.tls.cert).toEqual(first?.tls.cert);
  });
  it.each<[string, string]>([
    ['--secure-port=70000', '--secure-port 70000 must be between 0 and 65535, inclusive. 0 for turning off secure port'],
    ['--tls-min-version=SSL3', 'unknown tls version "SSL3"'],
    ['--tls-cipher-suites=RC4', "Cipher suite RC4 not supported or doesn't exist"],
    ['--tls-cert-file=a', 'must be specified together'],
    ['--tls-curve-preferences=1', 'unknown TLS curve 1'],
  ])('%s is refused', async (flag, problem) => {
    await expect(options(flag)).rejects.toThrow(problem);
  });
  it.each<[string, string]>([
    ['--tls-sni-cert-key=only.crt', 'expected comma separated certificate and key file paths'],
    ['--tls-sni-cert-key=a,b:', 'empty names list is not allowed'],
  ])('%s is no value', (flag, problem) => {
    expect(() => parseFlags(secureServingFlags({ port: 1 }), [flag])).toThrow(problem);
  });
});

it('flags of authentication and authorization have upstream’s defaults, and read their files', async () => {
  const auth = (...argv: string[]) =>
    delegatedAuthOptions(parseFlags(delegatedAuthFlags({ tolerateLookupFailure: false }), argv).values);
  expect(auth()).toEqual({
    lookup: 'strict',
    tokenTtlMs: 10_000,
    allowedTtlMs: 10_000,
    deniedTtlMs: 10_000,
    alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
  });
  const file = join(dir, 'one.crt');
  expect(
    auth(`--requestheader-client-ca-file=${file}`, `--client-ca-file=${file}`, '--authentication-skip-lookup'),
  ).toMatchObject({
    clientCa: await readFile(file, 'utf8'),
    requestHeader: {
      usernameHeaders: ['x-remote-user'],
      groupHeaders: ['x-remote-group'],
      extraHeaderPrefixes: ['x-remote-extra-'],
    },
    lookup: 'skip',
  });
});
