// What may stand in an EncryptionConfiguration (k8s.io/apiserver/pkg/apis/apiserver/validation, validation_encryption.go). Secrets are never
// repeated in a message. Pure.
import { type FieldError, invalid, type Path, required, root } from '#apimachinery/field';
import type { EncryptionConfiguration, KeyConfiguration, KmsConfiguration, ProviderConfiguration } from './configuration.ts';
import { parseGroupResource } from './group-resource.ts';

const atLeastOne = (path: Path): FieldError => required(path, `at least one ${path.toString()} is required`);

export function configurationErrors({ resources }: EncryptionConfiguration, reload: boolean): FieldError[] {
  const top = root('resources');
  if (resources.length === 0) return [atLeastOne(top)];
  const kmsNames = new Set<string>();
  return resources.flatMap((conf, index) => {
    const names = top.index(index).child('resources');
    const providers = top.index(index).child('providers');
    return [
      ...(conf.resources.length === 0 ? [atLeastOne(names)] : []),
      ...overlapErrors(conf.resources, names),
      ...conf.resources.flatMap((name, at) => nameErrors(name, names.index(at))),
      ...(conf.providers.length === 0 ? [atLeastOne(providers)] : []),
      ...conf.providers.flatMap((provider, at) => providerErrors(provider, providers.index(at), kmsNames, reload)),
    ];
  });
}

function overlapErrors(resources: readonly string[], path: Path): FieldError[] {
  const parsed = resources.map(parseGroupResource);
  const duplicate = new Set(resources).size < resources.length;
  const overlap = parsed.some(({ group, resource }, at) =>
    parsed.some((other, otherAt) => {
      if (at === otherAt || (other.group === group && other.resource === resource)) return false;
      if (group === '*' && resource === '*') return true;
      return other.group === group && (resource === '*' || other.resource === '*');
    }),
  );
  return [
    ...(duplicate ? [invalid(path, resources, 'the same resource cannot be specified multiple times')] : []),
    ...(overlap
      ? [
          invalid(
            path,
            resources,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
          ),
        ]
      : []),
  ];
}

const withoutApi = ['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'];

function nameProblem(name: string): string | undefined {
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters';
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (withoutApi.includes(name)) return 'resources which do not have REST API/s cannot be encrypted';
  const { group, resource } = parseGroupResource(name);
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported';
  return undefined;
}

function nameErrors(name: string, path: Path): FieldError[] {
  const problem = nameProblem(name);
  return problem === undefined ? [] : [invalid(path, name, problem)];
}

function providerErrors(provider: ProviderConfiguration, path: Path, kmsNames: Set<string>, reload: boolean): FieldError[] {
  const { kms, aesgcm, aescbc, secretbox } = provider;
  const given = Object.keys(provider);
  if (given.length === 0)
    return [
      invalid(
        path,
        undefined,
        'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
      ),
    ];
  const more =
    given.length > 1
      ? [
          invalid(
            path,
            undefined,
            'more than one provider specified in a single element, should split into different list elements',
          ),
        ]
      : [];
  if (kms) {
    const problems = kmsErrors(kms, path.child('kms'), kmsNames, reload);
    kmsNames.add(kms.name ?? '');
    return [...more, ...problems];
  }
  if (aesgcm) return [...more, ...keysErrors(aesgcm.keys ?? [], path.child('aesgcm').child('keys'), [16, 24, 32])];
  if (aescbc) return [...more, ...keysErrors(aescbc.keys ?? [], path.child('aescbc').child('keys'), [16, 24, 32])];
  if (secretbox) return [...more, ...keysErrors(secretbox.keys ?? [], path.child('secretbox').child('keys'), [32])];
  return more;
}

const keysErrors = (keys: readonly KeyConfiguration[], path: Path, lengths: readonly number[]): FieldError[] =>
  keys.length === 0
    ? [required(path, 'at least one keys is required')]
    : keys.flatMap((key, at) => keyErrors(key, path.index(at), lengths));

/** The bytes of a secret; undefined where it is not standard base64. */
export function secretBytes(text: string): Buffer | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  const bytes = Buffer.from(plain, 'base64');
  return bytes.toString('base64') === plain ? bytes : undefined;
}

function keyErrors({ name = '', secret = '' }: KeyConfiguration, path: Path, lengths: readonly number[]): FieldError[] {
  const unnamed = name === '' ? [required(path.child('name'), 'name is a mandatory field for a key')] : [];
  const at = path.child('secret');
  if (secret === '') return [...unnamed, required(at, 'secret is a mandatory field for a key')];
  const bytes = secretBytes(secret);
  if (!bytes) return [...unnamed, invalid(at, 'REDACTED', 'secrets must be base64 encoded')];
  if (lengths.includes(bytes.length)) return unnamed;
  const expected = `[${lengths.join(' ')}]`;
  return [
    ...unnamed,
    invalid(at, 'REDACTED', `secret is not of the expected length, got ${bytes.length}, expected one of ${expected}`),
  ];
}

function kmsErrors(kms: KmsConfiguration, path: Path, known: ReadonlySet<string>, reload: boolean): FieldError[] {
  const { name = '', timeout = 0, endpoint = '', apiVersion = '', cachesize } = kms;
  const v1 = apiVersion === 'v1';
  const problems: FieldError[] = [];
  if (name === '') problems.push(required(path.child('name'), 'name is a mandatory field for a provider'));
  if (!v1 && name.includes(':'))
    problems.push(invalid(path.child('name'), name, `invalid KMS provider name ${name}, must not contain ':'`));
  if ((reload || !v1) && known.has(name))
    problems.push(invalid(path.child('name'), name, `duplicate KMS provider name ${name}, names must be unique`));
  if (timeout <= 0) problems.push(invalid(path.child('timeout'), `${timeout / 1000}s`, 'timeout should be a positive value'));
  problems.push(...endpointErrors(endpoint, path.child('endpoint')));
  if (!v1 && cachesize !== undefined)
    problems.push(invalid(path.child('cachesize'), cachesize, 'cachesize is not supported in v2'));
  if (v1 && cachesize === 0)
    problems.push(invalid(path.child('cachesize'), 0, 'cachesize should be a positive value, or negative to disable'));
  if (!v1 && apiVersion !== 'v2')
    problems.push(
      invalid(
        path.child('apiVersion'),
        apiVersion,
        'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
      ),
    );
  return problems;
}

function endpointErrors(endpoint: string, path: Path): FieldError[] {
  if (endpoint === '') return [invalid(path, '', 'endpoint is a mandatory field for a kms')];
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase() ?? '';
  return scheme === 'unix'
    ? []
    : [invalid(path, endpoint, `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`)];
}
