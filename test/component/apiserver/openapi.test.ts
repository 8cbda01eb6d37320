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

describe('custom resources', () => {
  const boats = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boats.acc.example.com' },
    spec: {
      group: 'acc.example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: 'A boat.',
              properties: {
                spec: {
                  type: 'object',
                  required: ['oars'],
                  properties: {
                    oars: { type: 'integer', minimum: 1, default: 2, description: 'Number of oars.' },
                    load: { type: 'string', nullable: true },
                    port: { 'x-kubernetes-int-or-string': true },
                  },
                },
              },
            },
          },
        },
      ],
    },
  };
  const read = async (path: string, accept = json): Promise<{ status: number; body: string }> => {
    const response = await client.request({ method: 'GET', path, headers: { accept } });
    return { status: response.status, body: (await response.bytes()).toString('latin1') };
  };
  const hashOf = async (): Promise<string> => {
    const { paths } = JSON.parse((await read('/openapi/v3')).body) as { paths: Record<string, { serverRelativeURL: string }> };
    return paths['apis/acc.example.com/v1']?.serverRelativeURL ?? '';
  };

  it('are described as their definition says', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const created = await client.request({
      method: 'POST',
      path,
      headers: { 'content-type': json },
      body: JSON.stringify(boats),
    });
    expect(created.status).toBe(201);
    await created.bytes();
    await expect.poll(hashOf).not.toBe('');
    const { components } = JSON.parse((await read('/openapi/v3/apis/acc.example.com/v1')).body) as {
      components: { schemas: Record<string, object> };
    };
    const gvk = { group: 'acc.example.com', version: 'v1' };
    expect(components.schemas['com.example.acc.v1.Boat']).toMatchObject({
      description: 'A boat.',
      type: 'object',
      properties: {
        apiVersion: { type: 'string' },
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: {
          required: ['oars'],
          properties: { oars: { default: 2, description: 'Number of oars.' }, load: { nullable: true } },
        },
      },
      'x-kubernetes-group-version-kind': [{ ...gvk, kind: 'Boat' }],
    });
    expect(components.schemas['com.example.acc.v1.BoatList']).toMatchObject({
      properties: { items: { type: 'array', items: { $ref: '#/components/schemas/com.example.acc.v1.Boat' } } },
      'x-kubernetes-group-version-kind': [{ ...gvk, kind: 'BoatList' }],
    });
  });

  it('leave out of version 2 what it cannot say', async () => {
    const { definitions } = JSON.parse((await read('/openapi/v2')).body) as { definitions: Record<string, object> };
    const { spec } = (definitions['com.example.acc.v1.Boat'] as { properties: Record<string, object> }).properties;
    expect(spec).toEqual({
      type: 'object',
      required: ['oars'],
      properties: {
        oars: { type: 'integer', minimum: 1, description: 'Number of oars.' },
        load: {},
        port: { 'x-kubernetes-int-or-string': true },
      },
    });
    expect((await read('/openapi/v2', asKubectlAsks)).body).toContain('com.example.acc.v1.Boat');
  });

  it('change the address under which clients keep the document', async () => {
    const before = await hashOf();
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.acc.example.com';
    const op = { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/description', value: 'A ship.' };
    const headers = { 'content-type': 'application/json-patch+json' };
    const patched = await client.request({ method: 'PATCH', path, headers, body: JSON.stringify([op]) });
    expect(patched.status).toBe(200);
    await patched.bytes();
    await expect.poll(hashOf).not.toBe(before);
    await expect.poll(async () => (await read('/openapi/v3/apis/acc.example.com/v1')).body).toContain('A ship.');
  });
});
