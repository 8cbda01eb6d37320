// The service of KMS plugins as facts: message, field number, type (k8s.io/kms/apis/v2, api.proto).
import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

type Json = Parameters<typeof fromJSON>[0];

const message = (...fields: [id: number, name: string, type: string][]): object => ({
  fields: Object.fromEntries(fields.map(([id, name, type]) => [name, { id, type }])),
});
const withAnnotations = (made: object, id: number): object => {
  const { fields } = made as { fields: object };
  return { fields: { ...fields, annotations: { keyType: 'string', type: 'bytes', id } } };
};

const nested = {
  StatusRequest: message(),
  StatusResponse: message([1, 'version', 'string'], [2, 'healthz', 'string'], [3, 'keyId', 'string']),
  DecryptRequest: withAnnotations(message([1, 'ciphertext', 'bytes'], [2, 'uid', 'string'], [3, 'keyId', 'string']), 4),
  DecryptResponse: message([1, 'plaintext', 'bytes']),
  EncryptRequest: message([1, 'plaintext', 'bytes'], [2, 'uid', 'string']),
  EncryptResponse: withAnnotations(message([1, 'ciphertext', 'bytes'], [2, 'keyId', 'string']), 3),
  KeyManagementService: {
    methods: {
      Status: { requestType: 'StatusRequest', responseType: 'StatusResponse' },
      Decrypt: { requestType: 'DecryptRequest', responseType: 'DecryptResponse' },
      Encrypt: { requestType: 'EncryptRequest', responseType: 'EncryptResponse' },
    },
  },
};

let definition: ServiceDefinition | undefined;

/** The service as both sides need it: the apiserver calls it, and the plugin of a test serves it. */
export function kmsServiceDefinition(): ServiceDefinition {
  definition ??= fromJSON({ options: { syntax: 'proto3' }, nested: { v2: { nested } } } as Json, { defaults: true })[
    'v2.KeyManagementService'
  ] as ServiceDefinition;
  return definition;
}
