import { describe, expect, it } from 'vitest';
import { parseEncryptionConfiguration } from './configuration.ts';

const secret = Buffer.alloc(32, 7).toString('base64');
const file = (resources: unknown, head: object = {}): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources, ...head });
const aescbc = (...keys: object[]) => ({ aescbc: { keys } });
const one = (resources: string[], ...providers: object[]) => file([{ resources, providers }]);
const good = aescbc({ name: 'a', secret });
const kms = (more: object = {}) => ({ kms: { apiVersion: 'v2', name: 'p', endpoint: 'unix:///run/kms.sock', ...more } });
const problem = (text: string, reload = false): string => {
  try {
    parseEncryptionConfiguration(text, 'f', reload);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('an EncryptionConfiguration', () => {
  it('is read with the defaults of KMS plugins', () => {
    const { resources } = parseEncryptionConfiguration(one(['secrets'], kms(), { identity: {} }), 'f', false);
    expect(resources[0]?.providers[0]?.kms).toMatchObject({ timeout: 3_000, apiVersion: 'v2' });
    expect(resources[0]?.providers[1]).toEqual({ identity: {} });
  });

  it.each([
    ['', 'error while loading file: encryption provider configuration file "f" is empty'],
    ['kind: x', `error decoding encryption provider configuration file "f": Object 'apiVersion' is missing`],
    [file([], { kind: 'Other' }), 'no kind "Other" is registered for version "apiserver.config.k8s.io/v1"'],
    [file([], { apiVersion: 'apiserver.config.k8s.io/v2' }), 'no kind "EncryptionConfiguration" is registered'],
    [file([], { more: 1 }), 'strict decoding error: unknown field "more"'],
    [one(['secrets'], { aescbc: { key: [] } }), 'strict decoding error: unknown field "resources[0].providers[0].aescbc.key"'],
    [file('x'), 'json: cannot unmarshal string into Go struct field resources of type slice'],
    [file([]), 'resources: Required value: at least one resources is required'],
    [file([{ providers: [good] }]), 'resources[0].resources: Required value: at least one resources[0].resources is required'],
    [one(['secrets']), 'resources[0].providers: Required value: at least one resources[0].providers is required'],
    [one(['secrets'], {}), 'resources[0].providers[0]: Invalid value: provider does not contain any of the expected providers'],
    [one(['secrets'], { ...good, identity: {} }), 'more than one provider specified in a single element'],
    [one(['secrets'], aescbc()), 'resources[0].providers[0].aescbc.keys: Required value: at least one keys is required'],
    [one(['secrets'], aescbc({ secret })), 'keys[0].name: Required value: name is a mandatory field for a key'],
    [one(['secrets'], aescbc({ name: 'a' })), 'keys[0].secret: Required value: secret is a mandatory field for a key'],
    [one(['secrets'], aescbc({ name: 'a', secret: '?' })), 'secret: Invalid value: "REDACTED": secrets must be base64 encoded'],
    [one(['secrets'], aescbc({ name: 'a', secret: 'AAAA' })), 'got 3, expected one of [16 24 32]'],
    [one(['secrets'], { secretbox: { keys: [{ name: 'a', secret: 'AAAA' }] } }), 'got 3, expected one of [32]'],
    [one(['Secrets'], good), '"Secrets": resource name should not contain capital letters'],
    [one(['*'], good), "use '*.' to encrypt all the resources from core API group"],
    [one(['*.', 'secrets'], good), 'will be masked'],
    [one(['secrets', 'secrets'], good), 'the same resource cannot be specified multiple times'],
    [one(['pods.*'], good), 'encrypting the same resource across groups is not supported'],
    [one(['events.events.k8s.io'], good), "Use 'events' instead in the config file"],
    [one(['apiserveripinfo'], good), 'resources which do not have REST API/s cannot be encrypted'],
    [one(['secrets'], kms({ endpoint: 'tcp://x' })), 'unsupported scheme "tcp" for KMS provider, only unix is supported'],
    [one(['secrets'], kms({ timeout: '0s' })), 'timeout should be a positive value'],
    [one(['secrets'], kms({ name: 'a:b' })), "invalid KMS provider name a:b, must not contain ':'"],
    [one(['secrets'], kms(), kms()), 'duplicate KMS provider name p, names must be unique'],
    [one(['secrets'], kms({ cachesize: 3 })), 'cachesize is not supported in v2'],
    [one(['secrets'], kms({ apiVersion: 'v3' })), 'only v1 and v2 are supported'],
  ])('%s is refused in upstream’s words', (text, message) => expect(problem(text)).toContain(message));

  it('never repeats a secret in what it says', () => {
    const texts = [
      one(['Secrets'], aescbc({ name: '', secret })),
      one(['secrets'], { aescbc: { keys: [{ name: 'a', secret, more: 1 }] } }),
    ];
    for (const text of texts) expect(problem(text)).not.toContain(secret);
  });
});
