// The forms of /openapi/v2 (k8s.io/kube-openapi/pkg/handler): what is asked for, what comes, and that clients may keep it.
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, generateKeyPair, issueCertificate, privateKeyPem } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient, type WireClient } from '#wire';

const authority = createCertificateAuthority({ commonName: 'test' });
const json = 'application/json';
const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const asKubectlAsks = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
let server: KubeApiServer;
let client: WireClient;

beforeAll(async () => {
  server = await runKubeApiServer(
    {
      ...defaultOptions(),
      clientCa: authority.cert,
      serviceAccountSigningKey: privateKeyPem(generateKeyPair().privateKey),
    },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  const { cert, key } = issueCertificate({
    ca: authority,
    commonName: 'admin',
    organizations: ['system:masters'],
    usages: ['client auth'],
  });
  client = createWireClient({ baseUrl: server.url, tls: { ca: server.ca, cert, key } });
});
afterAll(async () => {
  client.close();
  await server?.close();
});

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  bytes: Buffer;
}

async function get(accept: string, more: Record<string, string> = {}): Promise<Answer> {
  const response = await client.request({ method: 'GET', path: '/openapi/v2', headers: { accept, ...more } });
  return { status: response.status, headers: response.headers, bytes: await response.bytes() };
}

describe('/openapi/v2', () => {
  it.each([
    ['*/*', json],
    ['application/*', json],
    [`${json};as=Table`, json],
    [asKubectlAsks, protobuf],
    [`${asKubectlAsks}, ${json}`, protobuf],
    [`${asKubectlAsks};q=0.5, ${json}`, json],
    [protobuf, protobuf],
    [`text/html, ${protobuf}`, protobuf],
  ])('asked for as %s comes as %s', async (accept, type) => {
    const { status, headers, bytes } = await get(accept);
    expect({ status, type: headers['content-type'], vary: headers.vary }).toEqual({ status: 200, type, vary: 'Accept' });
    // Field 1 of the document, `swagger`, in either form.
    expect(bytes.toString('latin1').startsWith(type === json ? '{"swagger":"2.0"' : '\x0a\x032.0')).toBe(true);
  });

  it.each(['text/html', 'application/yaml', 'application/com.github.googleapis.gnostic.OpenAPIv2@68f4ded+protobuf'])(
    'is not to be had as %s',
    async (accept) => {
      const { status, headers, bytes } = await get(accept);
      expect({ status, vary: headers.vary, length: bytes.length }).toEqual({ status: 406, vary: 'Accept', length: 0 });
    },
  );

  it('is packed, and varies by what decides', async () => {
    const plain = await get(asKubectlAsks);
    const packed = await get(asKubectlAsks, { 'accept-encoding': 'gzip' });
    expect(packed.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding, Accept',
      etag: plain.headers.etag,
    });
    expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
  });

  it('is kept by clients, each form by its own tag', async () => {
    const tags = [json, asKubectlAsks].map(async (accept) => String((await get(accept)).headers.etag));
    const [ofJson = '', ofProtobuf = ''] = await Promise.all(tags);
    expect((await get(asKubectlAsks, { 'if-none-match': ofProtobuf })).status).toBe(304);
    expect((await get(json, { 'if-none-match': ofJson })).status).toBe(304);
    expect((await get(asKubectlAsks, { 'if-none-match': ofJson })).status).toBe(200);
  });
});
