// The least of a cluster, for tests of a provider: objects that can be read and made, events and patches that are kept to be looked at.
import type { KubeObject } from '#apimachinery/meta';
import type { Logger } from '#utils';
import type { CloudClient, Service } from '../types.ts';

/** An object of any kind; ConfigMaps and Secrets have data. */
export interface TestObject extends KubeObject {
  data?: Readonly<Record<string, string>>;
}

export interface TestCluster {
  /** What `initialize` of a provider takes. */
  client(name: string): CloudClient;
  /** The events that were written, oldest first. */
  events: { reason?: string; message?: string; type?: string }[];
  /** The patches that were sent, oldest first; they change no object. */
  patches: { name?: string; subresource?: string; body: unknown }[];
  /** The objects by `resource name`, as in `secrets web-tls`. Namespaces are not told apart. */
  objects: Map<string, TestObject>;
}

/** A logger that says nothing. */
export const silentLogger: Logger = { error() {}, warn() {}, info() {}, debug() {}, with: () => silentLogger };

const refused = (reason: string, message: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(message), { status: { reason } }));
const notOffered = (): Promise<never> => Promise.reject(new Error('the cluster of a test does not offer this'));

/** A cluster that holds these objects, each under its resource and name, as `configmaps ingress-uid`. */
export function testCluster(held: Readonly<Record<string, TestObject>> = {}): TestCluster {
  const objects = new Map<string, TestObject>(Object.entries(held));
  const cluster: TestCluster = { events: [], patches: [], objects, client: () => client };
  const client: CloudClient = {
    resource: ({ resource }) => ({
      get(name) {
        const found = objects.get(`${resource} ${name}`);
        return found ? Promise.resolve(found as never) : refused('NotFound', `${resource} "${name}" not found`);
      },
      list: () =>
        Promise.resolve({
          items: [...objects].flatMap(([key, object]) => (key.startsWith(`${resource} `) ? [object as never] : [])),
        }),
      update: notOffered,
      create(object) {
        const key = `${resource} ${object.metadata.name}`;
        if (resource === 'events') cluster.events.push(object as never);
        else if (objects.has(key)) return refused('AlreadyExists', `${resource} "${object.metadata.name}" already exists`);
        else objects.set(key, object);
        return Promise.resolve(object);
      },
    }),
    transport: {
      call({ name, subresource, patch }) {
        cluster.patches.push({ ...(name && { name }), ...(subresource && { subresource }), body: patch?.body });
        return Promise.resolve({} as never);
      },
      watch: notOffered,
      raw: notOffered,
      close() {},
    },
  };
  return cluster;
}

/** The UID that every Service of `testService` has. */
export const testServiceUid = '5a0c5d2e-1111-4222-8333-944445555666';

/** The Service shop/web of type LoadBalancer with one port, and what is given in place of its defaults. */
export const testService = (
  annotations: Readonly<Record<string, string>> = {},
  spec: Partial<Service['spec']> = {},
  metadata: Partial<Service['metadata']> = {},
): Service => ({
  metadata: { name: 'web', namespace: 'shop', uid: testServiceUid, annotations: { ...annotations }, ...metadata },
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }],
    ...spec,
  },
  status: { loadBalancer: {} },
});
