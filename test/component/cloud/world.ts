// A cluster with a cloud-controller-manager over the fake cloud: the real apiserver, reached directly, in virtual time.
import type { Node, Service } from '#api/core/v1';
import type { GroupVersionResource, KubeObject } from '#apimachinery/meta';
import { isNotFound } from '#apimachinery/errors';
import { parseCIDR } from '#apimachinery/validation';
import type { Transport } from '#apimachinery/transport';
import type { CloudProvider } from '#cloud-provider';
import { FakeCloud, fakeProvider, fakeProviderName, type FakeProviderOptions } from '#cloud-provider/fake';
import {
  type CloudControllersConfig,
  defaultCloudControllersConfig,
  runCloudControllerManager,
  type RunningCloudControllerManager,
} from '#cloud-controller-manager';
import { createClient } from '#client';
import { defaultLeaderElection } from '#component-base';
import { startTestControlPlane, type TestControlPlane, type VirtualClock, virtualClock } from '#testing';
import { seededRng, silentLogger } from '#utils';

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource });
export const nodes = core('nodes');
export const services = core('services');

export interface CloudWorld {
  clock: VirtualClock;
  plane: TestControlPlane;
  cloud: FakeCloud;
  readonly manager: RunningCloudControllerManager;
  /** Ends the manager, if it did not end yet, and starts another. */
  restartManager(): Promise<void>;
  addNode(name: string, more?: Partial<Node>, instance?: boolean): Promise<Node>;
  node(name: string): Promise<Node>;
  patchNode(name: string, body: object, subresource?: string): Promise<unknown>;
  addService(name: string, spec?: Partial<Service['spec']>, metadata?: Partial<Service['metadata']>): Promise<Service>;
  service(name: string): Promise<Service>;
  patchService(name: string, body: object): Promise<unknown>;
  gone(resource: GroupVersionResource, name: string, namespace?: string): () => Promise<boolean>;
  /** `reason: message` of the events about an object, oldest first; `xN` behind repeated ones. */
  events(name: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface CloudWorldOptions {
  controllers?: string[];
  provider?: FakeProviderOptions;
  config?: Partial<CloudControllersConfig>;
  /** Default: 10.244.0.0/16. */
  clusterCidrs?: readonly string[];
  /** Between the manager and its cloud. */
  cloud?(provider: CloudProvider): CloudProvider;
  /** Between the manager and the apiserver. */
  network?(transport: Transport): Transport;
}

export const uninitialized = {
  key: 'node.cloudprovider.kubernetes.io/uninitialized',
  value: 'true',
  effect: 'NoSchedule',
};

export async function startCloudWorld(options: CloudWorldOptions = {}): Promise<CloudWorld> {
  const clock = virtualClock();
  const plane = await startTestControlPlane({ clock });
  const cloud = new FakeCloud({ clock, rng: seededRng(7) });
  const direct = plane.apiserver.transport({ name: 'system:admin', groups: ['system:masters'] }, 'ccm');
  const client = createClient(options.network?.(direct) ?? direct);
  const clusterCidrs = (options.clusterCidrs ?? ['10.244.0.0/16']).flatMap((text) => parseCIDR(text) ?? []);
  const provider = fakeProvider(cloud, options.provider);
  const startManager = (): RunningCloudControllerManager =>
    runCloudControllerManager(
      {
        providerName: fakeProviderName,
        cloud: options.cloud?.(provider) ?? provider,
        controllers: options.controllers ?? ['*'],
        config: { ...defaultCloudControllersConfig(), clusterCidrs, ...options.config },
        leaderElection: defaultLeaderElection('cloud-controller-manager'),
        identity: 'one',
      },
      { client, clock, rng: seededRng(3), logger: silentLogger, decisions: plane.decisions },
    );
  let manager = startManager();
  const merge = 'application/merge-patch+json';
  await clock.advance(1_000);
  return {
    clock,
    plane,
    cloud,
    get manager() {
      return manager;
    },
    async restartManager() {
      await manager.stop();
      manager = startManager();
    },
    async addNode(name, more = {}, instance = true) {
      if (instance) cloud.addInstance(name);
      const status = { conditions: [{ type: 'Ready', status: 'True' }] };
      await plane.client.resource<Node>(nodes).create({ metadata: { name }, ...more });
      return plane.client
        .resource<Node>(nodes)
        .patch(name, merge, { status: { ...status, ...more.status } }, { subresource: 'status' });
    },
    node: (name) => plane.client.resource<Node>(nodes).get(name),
    patchNode: (name, body, subresource) =>
      plane.client.resource(nodes).patch(name, merge, body, subresource ? { subresource } : {}),
    addService: (name, spec = {}, metadata = {}) =>
      plane.client.resource<Service>(services, 'default').create({
        metadata: { name, ...metadata },
        spec: { type: 'LoadBalancer', selector: { app: name }, ports: [{ port: 80 }], ...spec },
      }),
    service: (name) => plane.client.resource<Service>(services, 'default').get(name),
    patchService: (name, body) => plane.client.resource(services, 'default').patch(name, merge, body),
    gone: (resource, name, namespace) => () =>
      plane.client
        .resource(resource, namespace)
        .get(name)
        .then(
          () => false,
          (error: unknown) => isNotFound(error),
        ),
    async events(name) {
      type Told = KubeObject & { involvedObject?: { name?: string }; reason?: string; message?: string; count?: number };
      const { items } = await plane.client.resource<Told>(core('events')).list();
      return items
        .filter(({ involvedObject }) => involvedObject?.name === name)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ reason, message }) => `${reason}: ${message}`);
    },
    async close() {
      await manager.stop();
      await plane.stop();
    },
  };
}
