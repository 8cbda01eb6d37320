// Serves the OpenAPI documents: /openapi/v3 (an index and one document per group version) and /openapi/v2. Each is built when first asked for
// and kept until the resource table changes.
import { createHash } from 'node:crypto';
import { gitVersion } from '#component-base';
import type { SchemaTable } from '#apimachinery/schema';
import { openApiDocumentsMax } from '../../limits.ts';
import type { ResourceTable } from '../../resources.ts';
import type { Exchange } from '../exchange.ts';
import { sendBytes } from '../respond.ts';
import { pathsOf } from './paths.ts';
import { collectSchemas, type Descriptions, type Schema } from './schemas.ts';

export interface OpenApi {
  /** Answers paths of OpenAPI; false: not one of them. */
  serve(exchange: Exchange): Promise<boolean>;
}

const json = 'application/json';
const info = { title: 'Kubernetes', version: gitVersion };
const security = {
  BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
};

/** Paths of the index that are no group version. */
const plainPaths = ['.well-known/openid-configuration', 'api', 'apis', 'openid/v1/jwks', 'version'];

const accepts = (accept: string): boolean =>
  accept === '' ||
  accept.split(',').some((clause) => ['*/*', 'application/*', json].includes((clause.split(';')[0] ?? '').trim()));

export function createOpenApi(
  table: ResourceTable,
  schema: SchemaTable,
  readDescriptions: (() => Promise<string | undefined>) | undefined,
): OpenApi {
  const documents = new Map<string, Buffer>();
  let descriptions: Promise<Descriptions> | undefined;
  table.onChange(() => documents.clear());
  const texts = (): Promise<Descriptions> => {
    descriptions ??= (readDescriptions?.() ?? Promise.resolve(undefined))
      .then((text) => (text === undefined ? {} : (JSON.parse(text) as Descriptions)))
      .catch(() => ({}));
    return descriptions;
  };
  const built = async (path: string, make: (descriptions: Descriptions) => object): Promise<Buffer> => {
    const known = documents.get(path);
    if (known) return known;
    const document = Buffer.from(JSON.stringify(make(await texts())));
    if (documents.size >= openApiDocumentsMax) documents.clear();
    documents.set(path, document);
    return document;
  };
  return {
    async serve(exchange) {
      const { path } = exchange.info;
      if (path === '/openapi/v3') {
        sendBytes(exchange, 200, 'text/plain; charset=utf-8', Buffer.from(JSON.stringify(indexOf(table))));
        return true;
      }
      if (path === '/openapi/v2') {
        const document = await built(path, (known) => documentV2(table, schema, known));
        sendDocument(exchange, document);
        return true;
      }
      if (!path.startsWith('/openapi/v3/')) return false;
      const name = path.slice('/openapi/v3/'.length);
      const served = documentsOf(table).includes(name);
      if (!served || !accepts(exchange.accept)) {
        exchange.response.send(served ? 406 : 404, exchange.headers(), '');
        return true;
      }
      sendDocument(exchange, await built(path, (known) => documentV3(table, schema, known, name)));
      return true;
    },
  };
}

function sendDocument(exchange: Exchange, document: Buffer): void {
  const etag = `"${createHash('sha512').update(document).digest('hex').toUpperCase()}"`;
  if (exchange.request.headers['if-none-match'] === etag) return exchange.response.send(304, { ...exchange.headers(), etag }, '');
  const cached = exchange.query.has('hash')
    ? { 'cache-control': 'public, immutable', expires: new Date(exchange.now + 365 * 86_400_000).toUTCString() }
    : {};
  sendBytes(exchange, 200, json, document, { etag, vary: 'Accept', ...cached });
}

function documentsOf(table: ResourceTable): string[] {
  const groups = table.groups.flatMap(({ group, versions }) =>
    group === ''
      ? versions.map((version) => `api/${version}`)
      : [`apis/${group}`, ...versions.map((version) => `apis/${group}/${version}`)],
  );
  return [...plainPaths, ...groups].sort();
}

/** The hash changes when what is served under the path does; clients keep a document by it. */
function indexOf(table: ResourceTable): object {
  const entries = documentsOf(table).map((path) => {
    const [, group = '', version] = path.startsWith('api/') ? ['', '', path.slice(4)] : path.split('/');
    const state = JSON.stringify([
      gitVersion,
      path,
      version === undefined ? table.groups : (table.discovered(group, version) ?? []),
    ]);
    const hash = createHash('sha512').update(state).digest('hex').toUpperCase();
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(entries) as object };
}

const typeNameIn =
  (schema: SchemaTable) =>
  (kind: { group: string; version: string; kind: string }): string | undefined =>
    schema.kind(kind.group, kind.version, kind.kind)?.name;

function documentV3(table: ResourceTable, schema: SchemaTable, descriptions: Descriptions, path: string): object {
  const [root, first = '', second] = path.split('/');
  const [group, version] = root === 'api' ? ['', first] : [first, second];
  const schemas = collectSchemas(schema, descriptions, 3);
  const resources = version === undefined ? [] : (table.discovered(group, version) ?? []);
  const paths =
    version === undefined ? {} : pathsOf({ group, version, resources, typeName: typeNameIn(schema), schemas, openApiVersion: 3 });
  return { openapi: '3.0.0', info, paths, components: { schemas: sorted(schemas.schemas), securitySchemes: security } };
}

function documentV2(table: ResourceTable, schema: SchemaTable, descriptions: Descriptions): object {
  const schemas = collectSchemas(schema, descriptions, 2);
  const paths: Record<string, Schema> = {};
  for (const { group, versions } of table.groups) {
    for (const version of versions) {
      Object.assign(
        paths,
        pathsOf({
          group,
          version,
          resources: table.discovered(group, version) ?? [],
          typeName: typeNameIn(schema),
          schemas,
          openApiVersion: 2,
        }),
      );
    }
  }
  return {
    swagger: '2.0',
    info,
    paths,
    definitions: sorted(schemas.schemas),
    securityDefinitions: security,
    security: [{ BearerToken: [] }],
  };
}

const sorted = (schemas: Record<string, Schema>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
