// Typed resource clients over any Transport.
import type { GroupVersionResource, KubeList, KubeObject } from '#apimachinery/meta';
import type { ApiCall, CallOptions, DeleteOptions, PatchType, Transport, WatchCall, WatchStream } from '#apimachinery/transport';
import type { KubeClient, ResourceClient } from './types.ts';

class TransportResourceClient<T extends KubeObject> implements ResourceClient<T> {
  readonly #transport: Transport;
  readonly #target: GroupVersionResource & { namespace?: string };

  constructor(transport: Transport, target: GroupVersionResource & { namespace?: string }) {
    this.#transport = transport;
    this.#target = target;
  }
  #call<R>(call: Omit<ApiCall, 'group' | 'version' | 'resource' | 'namespace'>): Promise<R> {
    return this.#transport.call<R>({ ...this.#target, ...call });
  }
  get(name: string, options?: CallOptions): Promise<T> {
    return this.#call({ verb: 'get', name, options });
  }
  /** Other API servers may answer null for no items. */
  async list(options?: CallOptions): Promise<KubeList<T>> {
    const list = await this.#call<KubeList<T> & { items: T[] | null }>({ verb: 'list', options });
    return list.items ? list : { ...list, items: [] };
  }
  create(object: T, options?: CallOptions): Promise<T> {
    return this.#call({ verb: 'create', object, options });
  }
  update(object: T, options?: CallOptions): Promise<T> {
    return this.#call({ verb: 'update', name: object.metadata.name ?? '', object, options });
  }
  updateStatus(object: T, options?: CallOptions): Promise<T> {
    return this.#call({ verb: 'update', name: object.metadata.name ?? '', subresource: 'status', object, options });
  }
  patch(name: string, type: PatchType, body: unknown, options: CallOptions & { subresource?: string } = {}): Promise<T> {
    const { subresource, ...rest } = options;
    return this.#call({ verb: 'patch', name, subresource, patch: { type, body }, options: rest });
  }
  delete(name: string, options?: DeleteOptions): Promise<unknown> {
    return this.#call({ verb: 'delete', name, deleteOptions: options });
  }
  deleteCollection(options?: CallOptions, deleteOptions?: DeleteOptions): Promise<unknown> {
    return this.#call({ verb: 'deletecollection', options, deleteOptions });
  }
  createSubresource<R>(name: string, subresource: string, body: unknown): Promise<R> {
    return this.#call({ verb: 'create', name, subresource, object: body });
  }
  watch(options?: WatchCall['options']): Promise<WatchStream<T>> {
    return this.#transport.watch<T>({ ...this.#target, options });
  }
}

/** A client with one identity. Closing it closes the transport. */
export function createClient(transport: Transport): KubeClient {
  return {
    transport,
    resource: (gvr, namespace) => new TransportResourceClient(transport, { ...gvr, namespace }),
    close: () => transport.close(),
  };
}
