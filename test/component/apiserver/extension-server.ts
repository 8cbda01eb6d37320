// An API server of another author: serves metrics.example.com/v1 over TLS, believes the front proxy about who asks, and asks back whether that
// user may (https://kubernetes.io/docs/tasks/extend-kubernetes/setup-extension-api-server/).
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { KubeClient } from '#client';

export const metricsGroup = 'metrics.example.com';
const base = `/apis/${metricsGroup}/v1`;

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  /** Common name of the client's certificate. */
  proxy: string;
}

export interface ExtensionServer {
  readonly port: number;
  readonly seen: Seen[];
  /** Sends one event to every watch. */
  emit(event: object): void;
  close(): Promise<void>;
}

export interface ExtensionOptions {
  cert: string;
  key: string;
  /** Authority of front proxies. */
  proxyCa: string;
  /** Asks for the rights of users. */
  client: KubeClient;
}

const gauge = (name: string) => ({
  apiVersion: `${metricsGroup}/v1`,
  kind: 'Gauge',
  metadata: { name, namespace: 'default' },
  value: 7,
});

const resources = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${metricsGroup}/v1`,
  resources: [
    { name: 'gauges', singularName: 'gauge', namespaced: true, kind: 'Gauge', verbs: ['get', 'list', 'watch', 'create'] },
    { name: 'gauges/exec', singularName: '', namespaced: true, kind: 'Gauge', verbs: ['get'] },
  ],
};

const openApi = {
  swagger: '2.0',
  info: { title: 'metrics', version: '1' },
  paths: {
    [`${base}/namespaces/{namespace}/gauges`]: {
      get: {
        produces: ['application/json'],
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/com.example.Gauge' } } },
      },
    },
    '/version/': { get: { responses: {} } },
  },
  definitions: {
    'com.example.Gauge': {
      type: 'object',
      properties: { value: { type: 'integer' }, metadata: { $ref: '#/definitions/io.k8s.api.core.v1.PodSpec' } },
    },
    // The name is taken by something else.
    'io.k8s.api.core.v1.PodSpec': { type: 'object', properties: { odd: { type: 'string' } } },
    'com.example.Unused': { type: 'object' },
  },
};

const text = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(',') : (value ?? ''));

export async function startExtensionServer({ cert, key, proxyCa, client }: ExtensionOptions): Promise<ExtensionServer> {
  const seen: Seen[] = [];
  const watches = new Set<ServerResponse>();
  const note = (request: IncomingMessage): Seen => {
    const socket = request.socket as TLSSocket;
    const { method = '', url = '', headers } = request;
    const proxy = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : '';
    const one = { method, url, headers, proxy };
    seen.push(one);
    return one;
  };
  const mayUse = async ({ headers, method }: Seen): Promise<boolean> => {
    const groups = text(headers['x-remote-group']).split(/,\s*/);
    if (groups.includes('system:masters')) return true;
    const review = await client
      .resource({ group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' })
      .create({
        metadata: {},
        spec: {
          user: text(headers['x-remote-user']),
          groups,
          resourceAttributes: {
            group: metricsGroup,
            version: 'v1',
            resource: 'gauges',
            namespace: 'default',
            verb: method.toLowerCase(),
          },
        },
      } as never);
    return (review as unknown as { status: { allowed: boolean } }).status.allowed;
  };
  const server = createServer(
    { cert, key, ca: proxyCa, requestCert: true, rejectUnauthorized: false },
    async (request, response) => {
      const one = note(request);
      const json = (status: number, value: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (one.proxy !== 'front-proxy-client') return json(401, { kind: 'Status', status: 'Failure', code: 401 });
      const path = one.url.split('?')[0];
      if (path === base) return json(200, resources);
      if (path === '/openapi/v2') return json(200, openApi);
      if (!path?.startsWith(`${base}/namespaces/default/gauges`))
        return json(404, { kind: 'Status', status: 'Failure', code: 404 });
      if (!(await mayUse(one)))
        return json(403, { kind: 'Status', status: 'Failure', code: 403, reason: 'Forbidden', message: 'asked back: no' });
      if (path.endsWith('/moved')) return void response.writeHead(302, { location: 'https://elsewhere' }).end();
      if (request.method === 'POST') {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        return json(201, JSON.parse(Buffer.concat(chunks).toString()) as object);
      }
      if (one.url.includes('watch=')) {
        response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
        watches.add(response);
        return void response.once('close', () => watches.delete(response));
      }
      if (path.endsWith('/gauges'))
        return json(200, { kind: 'GaugeList', apiVersion: `${metricsGroup}/v1`, metadata: {}, items: [gauge('a')] });
      json(200, gauge(path.split('/').at(-1) ?? ''));
    },
  );
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    note(request);
    if (request.url?.endsWith('/refuse/exec')) return void socket.end('HTTP/1.1 409 Conflict\r\ncontent-length: 4\r\n\r\nbusy');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    emit: (event) => watches.forEach((response) => response.write(`${JSON.stringify(event)}\n`)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
