// Secrets (core/v1; pkg/registry/core/secret).
import type { Secret } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { DecodeError, decodeBase64, encodeBase64, parseJson } from '#apimachinery/schema';
import { setOwn } from '#utils';
import { immutable } from '../../common/immutable.ts';
import { age, columns } from '../../common/printing.ts';
import { collect, type Report } from '../../common/report.ts';
import { own } from '#utils';
import { defineKind } from '../../kind.ts';
import { tlsWarnings } from './tls-warnings.ts';
import { dataBytesMax, decodedLength, validateKeys, validateStaysImmutable } from '../common/data.ts';

const dataPath = root('data');
const accountAnnotation = 'kubernetes.io/service-account.name';

/** Keys that a type of secret must have. */
const needed: Record<string, string[]> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecret(report: Report, { metadata, type = '', data = {} }: Secret): void {
  validateKeys(report, dataPath, data);
  const bytes = Object.values(data).reduce((sum, value) => sum + decodedLength(value), 0);
  if (bytes > dataBytesMax) report.tooLong(dataPath, dataBytesMax);
  for (const key of own(needed, type) ?? []) if (data[key] === undefined) report.required(dataPath.key(key));
  switch (type) {
    case 'kubernetes.io/service-account-token':
      if (!metadata.annotations?.[accountAnnotation]) report.required(root('metadata', 'annotations').key(accountAnnotation));
      break;
    case 'kubernetes.io/dockercfg':
    case 'kubernetes.io/dockerconfigjson':
      validateJson(report, needed[type]?.[0] ?? '', data);
      break;
    case 'kubernetes.io/basic-auth':
      if (data['username'] !== undefined || data['password'] !== undefined) break;
      report.required(dataPath.key('username'));
      report.required(dataPath.key('password'));
      break;
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) report.required(dataPath.key('ssh-privatekey'));
      break;
  }
}

function validateJson(report: Report, key: string, data: Record<string, string>): void {
  const text = data[key];
  if (text === undefined) return;
  const bytes = decodeBase64(text);
  const problem = bytes instanceof Uint8Array ? jsonProblem(new TextDecoder().decode(bytes)) : undefined;
  if (problem !== undefined) report.invalid(dataPath.key(key), '<secret contents redacted>', problem);
}

/** Why a text is no JSON object, in the words of Go's encoding/json; undefined: it is one. */
function jsonProblem(text: string): string | undefined {
  try {
    const { value } = parseJson(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

export const secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  defaults(draft) {
    draft.type ||= 'Opaque';
    for (const key in draft.stringData)
      setOwn((draft.data ??= {}), key, encodeBase64(new TextEncoder().encode(draft.stringData[key])));
    delete draft.stringData;
  },
  prepareForUpdate(draft, old) {
    draft.type ||= old.type as string;
  },
  validate: (object) => collect((report) => validateSecret(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      immutable(report, root('type'), object.type, old.type);
      validateStaysImmutable(report, object, old, 'data');
      validateSecret(report, object);
    }),
  warnings: tlsWarnings,
  printer: {
    columns: columns('Name', 'Type', 'Data', 'Age'),
    cells: ({ metadata, type, data = {} }, now) => [
      metadata.name ?? '',
      type ?? '',
      Object.keys(data).length,
      age(metadata, now),
    ],
  },
  selectableFields: ({ type }) => ({ type: type ?? '' }),
});
