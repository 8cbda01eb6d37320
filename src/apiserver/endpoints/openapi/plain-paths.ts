// Paths of no resource: discovery, the version, and what says how service accounts' tokens are checked.
import { nameOf, type Route, bareString, type TypeName } from './route.ts';
import { mediaTypes } from './paths.ts';
import type { MoreTypes, Schema } from './schemas.ts';

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const versionType = 'io.k8s.apimachinery.pkg.version.Info';

const route = (
  path: string,
  name: [verb: string, rest: string],
  description: string,
  type: TypeName,
  produces: readonly string[],
  consumes = produces,
): Route => ({
  path,
  method: 'get',
  ...nameOf(path, ...name),
  description,
  parameters: [],
  consumes,
  produces,
  answers: [
    { status: 200, description: 'OK', type },
    { status: 401, description: 'Unauthorized' },
  ],
});

const json = ['application/json'];
const fixed: Readonly<Record<string, () => Route>> = {
  '.well-known/openid-configuration': () => ({
    ...route(
      '/.well-known/openid-configuration/',
      ['get', 'ServiceAccountIssuerOpenIDConfiguration'],
      "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
      bareString,
      json,
      [],
    ),
    tag: 'WellKnown',
  }),
  'openid/v1/jwks': () =>
    route(
      '/openid/v1/jwks/',
      ['get', 'ServiceAccountIssuerOpenIDKeyset'],
      'get service account issuer OpenID JSON Web Key Set (contains public token verification keys)',
      bareString,
      ['application/jwk-set+json'],
      [],
    ),
  api: () => route('/api/', ['get', 'APIVersions'], 'get available API versions', `${metaPackage}.APIVersions`, mediaTypes),
  apis: () => ({
    ...route('/apis/', ['get', 'APIVersions'], 'get available API versions', `${metaPackage}.APIGroupList`, mediaTypes),
    tag: 'apis',
  }),
  version: () => route('/version/', ['get', 'CodeVersion'], 'get the version information for this server', versionType, json),
};

/** The names of the OpenAPI documents that describe no group of the API. */
export const plainDocuments: readonly string[] = Object.keys(fixed).sort();

export const plainRoute = (document: string): Route | undefined => fixed[document]?.();

export const groupRoute = (group: string): Route =>
  route(`/apis/${group}/`, ['get', 'APIGroup'], 'get information of a group', `${metaPackage}.APIGroup`, mediaTypes);

export const versionRoute = (group: string, version: string): Route => {
  const path = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`;
  return route(path, ['get', 'APIResources'], 'get available resources', `${metaPackage}.APIResourceList`, mediaTypes);
};

const required = ['major', 'minor', 'gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'];
const optional = ['emulationMajor', 'emulationMinor', 'minCompatibilityMajor', 'minCompatibilityMinor'];

/** What /version answers, which is no kind. */
export const versionTypes = (openApiVersion: 2 | 3): MoreTypes => ({
  schema: (typeName): Schema | undefined => {
    if (typeName !== versionType) return undefined;
    const always = { type: 'string', ...(openApiVersion === 3 && { default: '' }) };
    const properties = [...required.map((name) => [name, always]), ...optional.map((name) => [name, { type: 'string' }])];
    return { type: 'object', properties: Object.fromEntries(properties) as Schema, required };
  },
});
