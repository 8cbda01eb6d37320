// Reads what an explanation looks at. What cannot be read is left out: the explanation says what it knows.
import type { KubeObject } from '#apimachinery/meta';
import type { CallOptions } from '#apimachinery/transport';
import type { KubeClient } from '#client';

export interface ResourceName {
  group: string;
  version: string;
  resource: string;
}

export const resources = {
  pods: { group: '', version: 'v1', resource: 'pods' },
  services: { group: '', version: 'v1', resource: 'services' },
  nodes: { group: '', version: 'v1', resource: 'nodes' },
  namespaces: { group: '', version: 'v1', resource: 'namespaces' },
  events: { group: '', version: 'v1', resource: 'events' },
  claims: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  volumes: { group: '', version: 'v1', resource: 'persistentvolumes' },
  replicaSets: { group: 'apps', version: 'v1', resource: 'replicasets' },
  jobs: { group: 'batch', version: 'v1', resource: 'jobs' },
  slices: { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' },
  policies: { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies' },
  ingressClasses: { group: 'networking.k8s.io', version: 'v1', resource: 'ingressclasses' },
  storageClasses: { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' },
  roleBindings: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' },
  clusterRoleBindings: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' },
  definitions: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
} as const satisfies Record<string, ResourceName>;

export class Reader {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }
  /** Rejects when it is not there. */
  get<T extends KubeObject>(resource: ResourceName, name: string, namespace?: string): Promise<T> {
    return this.#client.resource<T>(resource, namespace).get(name);
  }
  async find<T extends KubeObject>(resource: ResourceName, name: string, namespace?: string): Promise<T | undefined> {
    return this.get<T>(resource, name, namespace).catch(() => undefined);
  }
  /** Without a namespace, the objects of all namespaces. */
  async list<T extends KubeObject>(resource: ResourceName, namespace?: string, options?: CallOptions): Promise<T[]> {
    const found = await this.#client
      .resource<T>(resource, namespace)
      .list(options)
      .catch(() => undefined);
    return found?.items ?? [];
  }
}
