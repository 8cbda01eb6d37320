import { describe, expect, it } from 'vitest';
import { finish } from '#utils';
import { encodeOpenApiV2 } from './protobuf.ts';

const document = {
  swagger: '2.0',
  info: { title: 'T', version: 'v1' },
  paths: {
    '/a/{name}': {
      get: {
        tags: ['t'],
        operationId: 'readA',
        consumes: ['*/*'],
        produces: ['application/json'],
        schemes: ['https'],
        parameters: [
          { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/A' } },
          { name: 'limit', in: 'query', type: 'integer', uniqueItems: true },
        ],
        responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/A' } }, '401': { description: 'Unauthorized' } },
        'x-kubernetes-action': 'get',
      },
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string', uniqueItems: true }],
    },
  },
  definitions: {
    A: {
      description: 'An A.',
      type: 'object',
      required: ['m'],
      properties: {
        m: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        'x-n': { type: 'array', items: { type: 'integer', format: 'int32' }, default: 0, 'x-kubernetes-list-type': 'atomic' },
        e: { type: 'string', enum: ['a', 'b'] },
        o: { additionalProperties: false },
        r: { $ref: '#/definitions/A', maxLength: 7, minimum: 1.5 },
      },
      'x-kubernetes-group-version-kind': [{ group: 'g', kind: 'A', version: 'v1' }],
    },
  },
  securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: 'B' } },
  security: [{ BearerToken: [] }],
  'x-v': true,
};

/** What ParseDocument of gnostic-models v0.7.0 and proto.Marshal make of the document above. */
const known = Buffer.from(
  [
    'CgMyLjASBwoBVBICdjFChAISgQIKCS9hL3tuYW1lfRLzARLPAQoBdCoFcmVhZEEyEGFwcGxpY2F0aW9uL2pzb246AyovKkIlCiMKIRIEYm9keRoEYm9keSAB',
    'KhEKDyMvZGVmaW5pdGlvbnMvQUIgCh4SHBoaEgVxdWVyeSIFbGltaXQyB2ludGVnZXKgAQFKPQoiCgMyMDASGwoZCgJPSxITChEKDyMvZGVmaW5pdGlvbnMv',
    'QQoXCgM0MDESEAoOCgxVbmF1dGhvcml6ZWRSBWh0dHBzah0KE3gta3ViZXJuZXRlcy1hY3Rpb24SBhIEZ2V0CkofCh0SGyIZCAESBHBhdGgiBG5hbWUqBnN0',
    'cmluZ5gBAUq8Agq5AgoBQRKzAiIFQW4gQS6aAQFtsgEICgZvYmplY3TKAc4BCiYKAW0SIaoBEwoREgRieXRlsgEICgZzdHJpbmeyAQgKBm9iamVjdApVCgN4',
    'LW4STioEEgIwCrIBBwoFYXJyYXm6ARUKExIFaW50MzKyAQkKB2ludGVnZXL6ASMKFngta3ViZXJuZXRlcy1saXN0LXR5cGUSCRIHYXRvbWljCgoeCgFlEhmi',
    'AQQSAmEKogEEEgJiCrIBCAoGc3RyaW5nCgoKAW8SBaoBAhAACiEKAXISHAoPIy9kZWZpbml0aW9ucy9BSQAAAAAAAPg/WAf6AUgKH3gta3ViZXJuZXRlcy1n',
    'cm91cC12ZXJzaW9uLWtpbmQSJRIjLSBncm91cDogZwogIGtpbmQ6IEEKICB2ZXJzaW9uOiB2MQpiEQoPCgtCZWFyZXJUb2tlbhIAajUKMwoLQmVhcmVyVG9r',
    'ZW4SJBIiCgZhcGlLZXkSDWF1dGhvcml6YXRpb24aBmhlYWRlciIBQoIBDgoDeC12EgcSBXRydWUK',
  ].join(''),
  'base64',
);

const encoded = (schema: object): string =>
  Buffer.from(finish(encodeOpenApiV2({ definitions: { A: schema } }))).toString('latin1');

describe('encodeOpenApiV2', () => {
  it('writes what upstream writes', () => {
    expect(Buffer.from(finish(encodeOpenApiV2(document))).toString('latin1')).toBe(known.toString('latin1'));
  });

  it.each([
    ['a list of types', { type: ['string', 'null'] }, '\xb2\x01\x0e\x0a\x06string\x0a\x04null'],
    ['any value of a map', { additionalProperties: true }, '\xaa\x01\x02\x10\x01'],
    ['a schema without keywords', { items: {} }, '\xba\x01\x02\x0a\x00'],
    ['a default that is an object', { default: {} }, '\x2a\x05\x12\x03{}\n'],
    ['zero values not at all', { format: '', uniqueItems: false, maxLength: 0 }, ''],
    ['nothing else', { nullable: true }, ''],
  ])('%s', (_, schema, bytes) => {
    const value = `\x0a\x01A\x12${String.fromCharCode(bytes.length)}${bytes}`;
    const pair = `\x0a${String.fromCharCode(value.length)}${value}`;
    expect(encoded(schema)).toBe(`\x4a${String.fromCharCode(pair.length)}${pair}`);
  });
});
