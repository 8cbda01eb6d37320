// Serves the OpenAPI documents: /openapi/v3 (an index and one document per group version) and /openapi/v2, as JSON or protobuf
// (k8s.io/kube-openapi/pkg/handler). Each is built when first asked for, in steps between which others go on, and kept until the resource
// table changes; who asks meanwhile waits for the same one.
import { parseAccept } from '#apimachinery/codec';
import { gitVersion } from '#component-base';
import type { SchemaTable, TypeSchema } from '#apimachinery/schema';
import { paced } from '#host';
import type { Steps } from '#utils';
import type { RemoteApis } from '../remote-apis.ts';
import { type Json, mergeV2 } from './merge.ts';
import { openApiDocumentsMax } from '../../limits.ts';
import type { ResourceTable } from '../../registry/resource-table.ts';
import type { Incoming } from '../../chain/incoming.ts';
import type { DocumentOutcome, Outcome } from '../../chain/outcome.ts';
import { acceptOf } from '../negotiation.ts';
import { routesOf } from './paths.ts';
import { groupRoute, plainDocuments, plainRoute, versionRoute, versionTypes } from './plain-paths.ts';
import { pathsV2, pathsV3, type Route } from './route.ts';
import { customGroups, documentsOf, listing } from './listing.ts';
import { json, protobuf, type Rendered, rendering } from './render.ts';
import { type CustomTypes, customTypes } from './custom.ts';
import { collectSchemas, type Descriptions, type MoreTypes, type Schema, type SchemaCollector } from './schemas.ts';

export interface OpenApi {
  /** Answers a request for a document; undefined when the path is not one of a document. */
  serve(request: Incoming, path: string): Promise<Outcome | undefined>;
}

/** What /openapi/v2 may be asked for, and what it is answered as; the second name is the one kubectl knows. */
const formsV2: Readonly<Record<string, string>> = {
  [json]: json,
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf': protobuf,
  [protobuf]: protobuf,
};
const info = { title: 'Kubernetes', version: /\d+\.\d+/.exec(gitVersion)?.[0] ?? gitVersion };
const security = {
  BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
};

const accepts = (accept: string): boolean =>
  accept === '' ||
  accept.split(',').some((clause) => ['*/*', 'application/*', json].includes((clause.split(';')[0] ?? '').trim()));

/** The first form that satisfies a clause, with any parameters; undefined where no form does. */
function formOfV2(accept: string): string | undefined {
  for (const { type, subtype } of parseAccept(accept || '*/*')) {
    for (const [asked, form] of Object.entries(formsV2)) {
      const [offeredType, offeredSubtype] = asked.split('/');
      if ((type === '*' || type === offeredType) && (subtype === '*' || subtype === offeredSubtype)) return form;
    }
  }
  return undefined;
}

const keyOf = (path: string, form: string): string => `${form} ${path}`;

/** What is made when first asked for, and again once it was forgotten or could not be made. */
function untilForgotten<T>(make: () => Promise<T>): { get(): Promise<T>; forget(): void } {
  let kept: Promise<T> | undefined;
  const get = (): Promise<T> => {
    if (kept) return kept;
    const made = make();
    kept = made;
    made.catch(() => {
      if (kept === made) kept = undefined;
    });
    return made;
  };
  const forget = (): void => {
    kept = undefined;
  };
  return { get, forget };
}

type Others = Pick<RemoteApis, 'openApi' | 'onOpenApi'>;

/** The index of OpenAPI v3: what is served here, and as text with what others serve, which may be long. */
function indexOf(table: ResourceTable, rest: () => Promise<void> | undefined, aggregator: Others | undefined) {
  const index = untilForgotten(async () => paced(listing(table), rest));
  const text = untilForgotten(async () =>
    JSON.stringify({ paths: { ...aggregator?.openApi.indexV3(), ...(await index.get()) } }),
  );
  table.onChange(() => {
    index.forget();
    text.forget();
  });
  aggregator?.onOpenApi(text.forget);
  return { get: index.get, text: text.get };
}

export function createOpenApi(
  table: ResourceTable,
  schema: SchemaTable,
  readDescriptions: (() => Promise<string | undefined>) | undefined,
  rest: () => Promise<void> | undefined,
  aggregator?: Others,
): OpenApi {
  /** Documents by path and form: only the forms that clients ask for are made. */
  const documents = new Map<string, Promise<Rendered>>();
  let descriptions: Promise<Descriptions> | undefined;
  const index = indexOf(table, rest, aggregator);
  table.onChange(() => documents.clear());
  aggregator?.onOpenApi(() => Object.values(formsV2).forEach((form) => documents.delete(keyOf('/openapi/v2', form))));
  const merged = function* (sources: Sources): Steps<object> {
    return yield* mergeV2((yield* documentV2(sources)) as Json, aggregator?.openApi.specsV2() ?? []);
  };
  const texts = (): Promise<Descriptions> => {
    descriptions ??= (readDescriptions?.() ?? Promise.resolve(undefined))
      .then((text) => (text === undefined ? {} : (JSON.parse(text) as Descriptions)))
      .catch(() => ({}));
    return descriptions;
  };
  const built = (path: string, form: string, make: (descriptions: Descriptions) => Steps<object>): Promise<Rendered> => {
    const key = keyOf(path, form);
    const known = documents.get(key);
    if (known) return known;
    const document = texts().then((known) => paced(made(form, make(known)), rest));
    if (documents.size >= openApiDocumentsMax) documents.clear();
    documents.set(key, document);
    document.catch(() => documents.get(key) === document && documents.delete(key));
    return document;
  };
  return {
    async serve(request, path) {
      const accept = acceptOf(request);
      if (path === '/openapi/v3') {
        return { is: 'bytes', status: 200, type: 'text/plain; charset=utf-8', body: await index.text() };
      }
      if (path === '/openapi/v2') {
        const form = formOfV2(accept);
        if (form === undefined) return empty(406, { vary: 'Accept' });
        return documentOf(request, await built(path, form, (known) => merged({ table, schema, descriptions: known })), form);
      }
      if (!path.startsWith('/openapi/v3/')) return undefined;
      const name = path.slice('/openapi/v3/'.length);
      const served = documentsOf(table).includes(name);
      const other = served ? undefined : await aggregator?.openApi.serveV3(request, name);
      if (other) return other;
      if (!served || !accepts(accept)) return empty(served ? 406 : 404);
      const { serverRelativeURL = '' } = (await index.get())[name] ?? {};
      const hash = hashIn(request.query);
      if (hash !== '' && hash !== hashIn(serverRelativeURL.split('?')[1] ?? '')) return movedTo(serverRelativeURL);
      return documentOf(
        request,
        await built(path, json, (known) => documentV3({ table, schema, descriptions: known }, name)),
        json,
      );
    },
  };
}

function* made(form: string, document: Steps<object>): Steps<Rendered> {
  return yield* rendering(form, yield* document);
}

const empty = (status: number, headers: Record<string, string> = {}): DocumentOutcome => ({
  is: 'bytes',
  status,
  type: '',
  body: '',
  headers,
});

const hashIn = (query: string): string => new URLSearchParams(query).get('hash') ?? '';

/** Where the document of now is, for who asks for one of then. */
const movedTo = (location: string): DocumentOutcome => ({
  ...{ is: 'bytes', status: 301, type: json, body: '' },
  headers: { location, vary: 'Accept' },
});

function documentOf({ headers, query, now }: Incoming, { bytes, etag }: Rendered, form: string): DocumentOutcome {
  if (headers['if-none-match'] === etag) return empty(304, { etag, vary: 'Accept' });
  const cached: Record<string, string> = hashIn(query)
    ? { 'cache-control': 'public, immutable', expires: new Date(now + 365 * 86_400_000).toUTCString() }
    : {};
  return { is: 'bytes', status: 200, type: form, body: bytes, headers: { etag, vary: 'Accept', ...cached }, shared: true };
}

const typeNameIn =
  (schema: SchemaTable, custom: CustomTypes) =>
  (kind: { group: string; version: string; kind: string }): string | undefined =>
    schema.kind(kind.group, kind.version, kind.kind)?.name ?? custom.typeName(kind);

interface Sources {
  table: ResourceTable;
  schema: SchemaTable;
  descriptions: Descriptions;
}

const versionRoutes = (
  { table, schema, descriptions }: Sources,
  custom: CustomTypes,
  group: string,
  version: string,
): Route[] => [
  ...(isCustom({ table, schema, descriptions }, group, version) ? [] : [versionRoute(group, version)]),
  ...routesOf({
    group,
    version,
    resources: table.discovered(group, version) ?? [],
    typeName: typeNameIn(schema, custom),
    returnsDeleted: (resource) => {
      const { returnsObject = false, documentsStatus = false } = table.find(group, version, resource)?.definition.deletion ?? {};
      return returnsObject && !documentsStatus;
    },
    isCustom: (resource) => table.find(group, version, resource)?.custom === true,
    table: schema,
    descriptions,
  }),
];

/** Options and events of watches are kinds of every group version. */
const ofAllGroups = /\.meta\.v1\.(DeleteOptions|WatchEvent)$/;

const kindsIn =
  (groups: readonly (readonly [group: string, version: string])[]) =>
  ({ name, gvks }: TypeSchema): TypeSchema['gvks'] => {
    const kind = ofAllGroups.exec(name)?.[1];
    if (kind === undefined) return gvks;
    const all = [['', 'v1'] as const, ...groups.filter(([group]) => group !== '')];
    return all.map(([group, version]) => ({ group, kind, version }));
  };

function typesOf(
  { table, schema, descriptions }: Sources,
  version: 2 | 3,
  groups: readonly (readonly [group: string, version: string])[],
): { custom: CustomTypes; schemas: SchemaCollector } {
  const custom = customTypes({ all: table.all(), published: table.published }, descriptions, version);
  const plain = versionTypes(version);
  const more: MoreTypes = {
    schema: (name, reference) => plain.schema(name, reference) ?? custom.schema(name, reference),
  };
  return { custom, schemas: collectSchemas(schema, descriptions, version, more, kindsIn(groups)) };
}

const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };
const isCustom = ({ table }: Sources, group: string, version: string): boolean =>
  table.all().some((one) => one.custom && one.group === group && one.version === version);

function* documentV3(sources: Sources, path: string): Steps<object> {
  const [root, first = '', second] = path.split('/');
  const [group, version] = root === 'api' ? ['', first] : [first, second];
  const custom = version !== undefined && isCustom(sources, group, version);
  const groups = version === undefined ? [] : custom ? builtinVersions(sources) : [[group, version] as const];
  const types = typesOf(sources, 3, groups);
  const plain = plainRoute(path);
  const routes = plain ? [plain] : version ? versionRoutes(sources, types.custom, group, version) : [groupRoute(group)];
  const { schemas } = types.schemas;
  const paths = yield* pathsV3(routes, (type) => types.schemas.reference(type));
  const components = {
    ...(Object.keys(schemas).length > 0 && { schemas: sorted(schemas) }),
    ...(!custom && { securitySchemes: security }),
  };
  return { openapi: '3.0.0', info: custom ? customInfo : info, paths, components };
}

const builtinVersions = (sources: Sources): (readonly [group: string, version: string])[] =>
  sources.table.groups
    .flatMap(({ group, versions }) => versions.map((version) => [group, version] as const))
    .filter(([group, version]) => !isCustom(sources, group, version))
    .sort(([one], [other]) => (one < other ? -1 : 1));

function* documentV2(sources: Sources): Steps<Record<string, unknown>> {
  const { custom, schemas } = typesOf(sources, 2, builtinVersions(sources));
  const routes: Route[] = plainDocuments.map((name) => plainRoute(name)).filter((route) => route !== undefined);
  const ofCustom = customGroups(sources.table);
  for (const { group, versions } of sources.table.groups) {
    if (group !== '' && !ofCustom.has(group)) routes.push(groupRoute(group));
    for (const version of versions) {
      for (const route of versionRoutes(sources, custom, group, version)) routes.push(route);
      yield;
    }
  }
  const { paths, parameters } = yield* pathsV2(routes, (type) => schemas.reference(type));
  yield;
  return {
    swagger: '2.0',
    info,
    paths,
    definitions: sorted(schemas.schemas),
    parameters,
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

const sorted = (schemas: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
