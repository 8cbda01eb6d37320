// The load balancers of Services. Found by the id that an annotation holds, else, or where that one is gone, by name; made or set anew as a whole,
// for PUT takes the whole.
import {
  defaultLoadBalancerName,
  type LoadBalancer as LoadBalancers,
  type LoadBalancerStatus,
  type Logger,
  type Node,
  retryAfter,
  type Service,
} from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations, trimmedOf } from '../annotations.ts';
import type { DigitalOceanApi } from '../api/client.ts';
import type { LoadBalancer, LoadBalancerRequest, LoadBalancerType } from '../api/types.ts';
import { creationRetryMs } from '../limits.ts';
import { annotated, identityOf, type ServiceWriter } from '../service-writer.ts';
import { certificateIdOf, renewedCertificateId } from './certificates.ts';
import { dropletIdsOf } from './droplet-ids.ts';
import { withLiveDroplets } from './live-droplets.ts';
import { backendsOf, checkBackends, ConfigurationError, networkOf, typeOf } from './network.ts';
import { otherOwner } from './owner.ts';
import { isDisowned, nameOf, requestFor } from './request.ts';

export interface LoadBalancersDeps {
  api: DigitalOceanApi;
  writer: ServiceWriter;
  /** All of the cluster; none before there is a client. */
  services(): Promise<readonly Service[]>;
  region(signal?: AbortSignal): Promise<string>;
  clusterId: string;
  vpcId: string;
  defaultType: LoadBalancerType;
  logger: Logger;
}

/** The name asked for, and the default one. */
const namesOf = (service: Service): string[] => [nameOf(service), defaultLoadBalancerName(service)];

/** The id annotated, else that of the one with the name asked for or the default one; undefined: none. */
export function idOf(service: Service, all: readonly LoadBalancer[]): string | undefined {
  const names = namesOf(service);
  return annotationOf(service, annotations.id) || all.find(({ name }) => names.includes(name))?.id;
}

const addressesOf = ({ ip, ipv6 }: LoadBalancer): LoadBalancerStatus => ({
  ingress: [ip, ipv6].flatMap((address) => (address ? [{ ip: address }] : [])),
});

/** Throws while it is not ready. */
function statusOf(service: Service, balancer: LoadBalancer): LoadBalancerStatus {
  if (balancer.status === 'new') throw retryAfter('load-balancer is currently being created', creationRetryMs);
  if (balancer.status !== 'active') throw new Error(`load-balancer has unexpected status "${balancer.status}"`);
  const hostname = annotationOf(service, annotations.hostname)?.toLowerCase();
  return hostname ? { ingress: [{ hostname }] } : addressesOf(balancer);
}

/** What stays as it was made, whatever the Service says by now: with rules for another type it would serve nobody. */
const fixedOf = ({ type, network }: LoadBalancer): Record<string, string> => ({
  ...(type && { [annotations.type]: type }),
  ...(network && { [annotations.network]: network }),
});

class DigitalOceanLoadBalancers implements LoadBalancers {
  readonly #deps: LoadBalancersDeps;

  constructor(deps: LoadBalancersDeps) {
    this.#deps = deps;
  }
  getLoadBalancerName(_cluster: string, service: Service): string {
    return nameOf(service);
  }
  async getLoadBalancer(_cluster: string, service: Service, signal?: AbortSignal) {
    const balancer = await this.#findOwn(service, signal);
    if (!balancer) return undefined;
    await this.#deps.writer.annotate(service, identityOf(balancer));
    return addressesOf(balancer);
  }
  async ensureLoadBalancer(_cluster: string, service: Service, nodes: readonly Node[], signal?: AbortSignal) {
    if (isDisowned(service)) return service.status?.loadBalancer ?? {};
    return this.#annotating(service, async (annotate) => {
      const request = await this.#request(service, nodes, signal).catch((error: unknown) => {
        return during('failed to build load-balancer request')(error);
      });
      const existing = await this.#find(service, signal);
      if (existing) annotate(identityOf(existing));
      const balancer = existing
        ? await this.#update(existing, service, nodes, annotate, signal)
        : await this.#create(service, request, signal);
      if (!existing) annotate(identityOf(balancer));
      return statusOf(service, balancer);
    });
  }
  async updateLoadBalancer(_cluster: string, service: Service, nodes: readonly Node[], signal?: AbortSignal) {
    if (isDisowned(service)) return;
    await this.#annotating(service, async (annotate) => {
      const existing = await this.#find(service, signal);
      if (!existing) throw new Error('loadbalancer not found');
      annotate(identityOf(existing));
      await this.#update(existing, service, nodes, annotate, signal);
    });
  }
  async ensureLoadBalancerDeleted(_cluster: string, service: Service, signal?: AbortSignal) {
    if (isDisowned(service)) return;
    const existing = await this.#findOwn(service, signal);
    if (!existing) return;
    await this.#deps.api.deleteLoadBalancer(existing.id, signal).catch((error: unknown) => {
      return during('failed to delete load-balancer')(error);
    });
  }

  /** The one of the Service. Throws where it asks for that of another Service. */
  async #find(service: Service, signal?: AbortSignal): Promise<LoadBalancer | undefined> {
    const { balancer, owner } = await this.#search(service, signal);
    if (!balancer || !owner) return balancer;
    const { namespace, name } = owner.metadata;
    const message = `load-balancer ${balancer.name} (${balancer.id}) is that of service ${namespace}/${name}`;
    await this.#deps.writer.warn(service, 'LoadBalancerConfigError', message);
    throw new Error(message);
  }
  /** As #find; that of another Service counts as none. */
  async #findOwn(service: Service, signal?: AbortSignal): Promise<LoadBalancer | undefined> {
    const { balancer, owner } = await this.#search(service, signal);
    return owner ? undefined : balancer;
  }
  async #search(service: Service, signal?: AbortSignal): Promise<{ balancer?: LoadBalancer; owner?: Service | undefined }> {
    const balancer = await this.#lookUp(service, signal);
    if (!balancer) return {};
    // Nobody else has a name that is made of the UID of this one.
    if (balancer.name === defaultLoadBalancerName(service)) return { balancer };
    return { balancer, owner: otherOwner(service, balancer, await this.#deps.services()) };
  }
  async #lookUp(service: Service, signal?: AbortSignal): Promise<LoadBalancer | undefined> {
    const { api } = this.#deps;
    const id = annotationOf(service, annotations.id);
    const annotatedOne =
      id &&
      (await api.loadBalancer(id, signal).catch((error: unknown) => {
        return during(`failed to get load-balancer by ID ${id}`)(error);
      }));
    if (annotatedOne) return annotatedOne;
    // The annotation may be of one that is gone: its successor was made when nobody lived to write the new id.
    const all = await api.loadBalancers(signal);
    const names = namesOf(service);
    return all.find(({ name }) => names.includes(name));
  }
  async #create(service: Service, request: LoadBalancerRequest, signal?: AbortSignal): Promise<LoadBalancer> {
    const ip = trimmedOf(service, annotations.ip);
    const { api } = this.#deps;
    const whole = { ...request, ...(ip !== '' && { ip }) };
    return withLiveDroplets(api, whole, (body) => api.createLoadBalancer(body, signal), signal).catch((error: unknown) => {
      return during('failed to create load-balancer')(error);
    });
  }
  async #update(
    existing: LoadBalancer,
    service: Service,
    nodes: readonly Node[],
    annotate: (added: Record<string, string>) => void,
    signal?: AbortSignal,
  ): Promise<LoadBalancer> {
    const { api } = this.#deps;
    const renewed = await renewedCertificateId(api, existing, await certificateIdOf(api, service, signal), signal);
    const added: Record<string, string> = renewed === undefined ? {} : { [annotations.certificateId]: renewed };
    annotate(added);
    const asIs = annotated(service, { ...added, ...fixedOf(existing) });
    const request = await this.#request(asIs, nodes, signal, existing).catch((error: unknown) => {
      return during('failed to build load-balancer request')(error);
    });
    const send = (body: LoadBalancerRequest) => api.updateLoadBalancer(existing.id, body, signal);
    const updated = await withLiveDroplets(api, request, send, signal).catch((error: unknown) => {
      return during(`failed to update load-balancer with ID ${existing.id}`)(error);
    });
    await this.#refuseOtherNetwork(service, existing);
    return updated;
  }
  /** Whoever asks for an internal one must not take an external one for that. */
  async #refuseOtherNetwork(service: Service, { name, network }: LoadBalancer): Promise<void> {
    const wanted = networkOf(service);
    if (network === undefined || network === wanted) return;
    const message = `annotation ${annotations.network} asks for ${wanted}, and load-balancer ${name} is ${network}, which DigitalOcean does not change: delete the Service and make it again`;
    await this.#deps.writer.warn(service, 'LoadBalancerConfigError', message);
    throw new ConfigurationError(message);
  }
  /** The whole body of the request. An event reports what a person must put right. */
  async #request(
    service: Service,
    nodes: readonly Node[],
    signal?: AbortSignal,
    existing?: LoadBalancer,
  ): Promise<LoadBalancerRequest> {
    const { api, writer, clusterId, vpcId, defaultType, logger } = this.#deps;
    try {
      const type = typeOf(service, defaultType);
      const network = networkOf(service);
      const backends = backendsOf(nodes, type, network);
      checkBackends(nodes, backends, type, network);
      const certificateId = type === 'REGIONAL' ? await certificateIdOf(api, service, signal) : '';
      const request = requestFor(service, {
        defaultType,
        backends,
        certificateId,
        clusterId,
        vpcId,
        ...(existing?.network_stack !== undefined && { currentStack: existing.network_stack }),
      });
      const dropletIds = await dropletIdsOf(api, backends.eligible, logger, signal);
      return { ...request, region: await this.#deps.region(signal), droplet_ids: dropletIds };
    } catch (error) {
      if (error instanceof ConfigurationError) await writer.warn(service, 'LoadBalancerConfigError', error.message);
      throw error;
    }
  }
  /** Writes the annotations that were collected, also when the work behind them fails: they find what was made. */
  async #annotating<T>(service: Service, work: (annotate: (added: Record<string, string>) => void) => Promise<T>): Promise<T> {
    const wanted: Record<string, string> = {};
    const outcome = await work((added) => Object.assign(wanted, added)).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    try {
      await this.#deps.writer.annotate(service, wanted);
    } catch (error) {
      if (!('error' in outcome)) throw error;
      throw new Error(`[${textOf(outcome.error)}, ${textOf(error)}]`, { cause: outcome.error });
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }
}

/** Makes the part of the provider that has load balancers. */
export const createLoadBalancers = (deps: LoadBalancersDeps): LoadBalancers => new DigitalOceanLoadBalancers(deps);
