// Watches that ask for tables, of every resource there is: the bookmark that ends the initial events is a table with one row, as upstream's.
import { Agent, get } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeApiServer } from '#apiserver/app';
import { startApiServer } from '../../support/api-server.ts';

let server: KubeApiServer;
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

beforeAll(async () => {
  server = await startApiServer();
});
afterAll(async () => {
  agent.destroy();
  await server?.close();
});

/** Whole text of an answer, or with `until` what came of it until a line had that. */
function ask(path: string, accept = 'application/json', until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(
      { port: server.wire.port, path, agent, headers: { authorization: 'Bearer admin', accept } },
      (response) => {
        let said = '';
        response.on('data', (chunk: Buffer) => {
          said += chunk.toString();
          if (until === undefined || !said.includes(until) || !said.endsWith('\n')) return;
          resolve(said);
          request.destroy();
        });
        response.on('end', () => resolve(said));
      },
    );
    request.on('error', reject);
  });
}

interface Listed {
  groupVersion: string;
  resources: { name: string; kind: string; verbs: string[] }[];
}

/** Paths of all resources that can be watched. */
async function watchable(): Promise<string[]> {
  const { groups } = JSON.parse(await ask('/apis')) as { groups: { preferredVersion: { groupVersion: string } }[] };
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const lists = await Promise.all(roots.map(async (root) => ({ root, ...(JSON.parse(await ask(root)) as Listed) })));
  return lists.flatMap(({ root, resources }) =>
    resources.filter(({ verbs }) => verbs.includes('watch')).map(({ name }) => `${root}/${name}`),
  );
}

interface Event {
  type: string;
  object: { kind: string; columnDefinitions?: object[] | null; rows: { cells: unknown[]; object: BookmarkObject | null }[] };
}
interface BookmarkObject {
  kind: string;
  metadata: { annotations?: Record<string, string>; resourceVersion: string };
}

async function bookmarkOf(path: string, include: string): Promise<Event> {
  const query = `watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=${include}`;
  const said = await ask(`${path}?${query}`, table, '"BOOKMARK"');
  const events = said.trim().split('\n');
  return JSON.parse(events.at(-1) ?? '') as Event;
}

it('the bookmark of a table has one row, with the annotation that ends the initial events, for every kind and choice of objects', async () => {
  const paths = await watchable();
  expect(paths.length).toBeGreaterThan(50);
  for (const path of paths)
    for (const include of ['Metadata', 'None', 'Object']) {
      const { type, object } = await bookmarkOf(path, include);
      expect([path, type, object.kind, object.rows.length]).toEqual([path, 'BOOKMARK', 'Table', 1]);
      const [row] = object.rows;
      expect(row?.object?.metadata.annotations, path).toEqual({ 'k8s.io/initial-events-end': 'true' });
      expect(row?.object?.kind === 'PartialObjectMetadata', `${path} ${include}`).toBe(include !== 'Object');
    }
});

it('each health endpoint names the checks that monitoring of upstream asks for', async () => {
  const hooks = [
    ...['start-apiserver-admission-initializer', 'generic-apiserver-start-informers', 'start-apiextensions-informers'],
    ...['start-apiextensions-controllers', 'crd-informer-synced', 'bootstrap-controller', 'start-system-namespaces-controller'],
    ...['start-service-ip-repair-controllers', 'scheduling/bootstrap-system-priority-classes'],
    ...['start-cluster-authentication-info-controller', 'start-kube-aggregator-informers', 'apiservice-registration-controller'],
    ...['apiservice-status-local-available-controller', 'apiservice-status-remote-available-controller'],
    ...['kube-apiserver-autoregistration', 'apiservice-openapi-controller', 'storage-readiness'],
  ].map((name) => `poststarthook/${name}`);
  for (const endpoint of ['healthz', 'livez', 'readyz']) {
    const said = (await ask(`/${endpoint}?verbose=1`)).split('\n');
    for (const name of ['ping', 'log', 'etcd', 'autoregister-completion', ...hooks]) expect(said).toContain(`[+]${name} ok`);
  }
});
