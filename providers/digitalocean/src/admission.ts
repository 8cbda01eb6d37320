// The admission webhook for Services of type LoadBalancer (upstream: digitalocean-cloud-controller-manager-admission-server): what the load
// balancer could not be made of is refused when somebody writes it, not told by an event afterwards. The API checks the request without
// carrying it out.
import type { CloudWebhook, Service } from 'sagong/cloud-provider';
import { during, textOf } from 'sagong/cloud-provider/kit';
import { retryAfterOf } from 'sagong/cloud-provider';
import { annotationOf, annotations } from './annotations.ts';
import type { DigitalOceanApi } from './api/client.ts';
import { ApiError } from './api/errors.ts';
import type { LoadBalancerRequest, LoadBalancerType } from './api/types.ts';
import { certificateIdOf } from './load-balancer/certificates.ts';
import { backendsOf, networkOf, typeOf } from './load-balancer/network.ts';
import { requestFor } from './load-balancer/request.ts';

export interface AdmissionDeps {
  api: DigitalOceanApi;
  region(): Promise<string>;
  clusterId: string;
  vpcId: string;
  defaultType: LoadBalancerType;
}

type Answer = Awaited<ReturnType<CloudWebhook['admit']>>;

const allowed = (message: string): Answer => ({ allowed: true, status: { code: 200, message } });
const denied = (message: string): Answer => ({ allowed: false, status: { code: 403, reason: 'Forbidden', message } });

/** What the controller would ask for, but for the nodes, which say nothing about the Service. */
async function requestOf(service: Service, deps: AdmissionDeps): Promise<LoadBalancerRequest> {
  try {
    const type = typeOf(service, deps.defaultType);
    const backends = backendsOf([], type, networkOf(service));
    const certificateId = type === 'REGIONAL' ? await certificateIdOf(deps.api, service) : '';
    return requestFor(service, { ...deps, backends, certificateId });
  } catch (error) {
    return during('failed to build DO API request: failed to build base load balancer request')(error);
  }
}

/** Whether nothing has changed that the load balancer is made of. An old Service may be wrong: then it has. */
async function isSame(request: LoadBalancerRequest, old: Service, deps: AdmissionDeps): Promise<boolean> {
  const before = await requestOf(old, deps).catch(() => undefined);
  return JSON.stringify(before) === JSON.stringify(request);
}

async function decide(service: Service, old: Service | undefined, deps: AdmissionDeps): Promise<Answer> {
  if (service.spec?.type !== 'LoadBalancer') return allowed('allowing service that is not a load balancer');
  if (service.metadata.deletionTimestamp) return allowed('allowing service that is being deleted');
  let request: LoadBalancerRequest;
  try {
    request = await requestOf(service, deps);
  } catch (error) {
    return denied(textOf(error));
  }
  if (old && (await isSame(request, old, deps))) return allowed('new service has irrelevant changes');
  const id = annotationOf(service, annotations.id) || (old && annotationOf(old, annotations.id));
  const region = await deps.region();
  try {
    await deps.api.validateLoadBalancer(old && id ? id : undefined, { ...request, region });
    return allowed('valid load balancer definition');
  } catch (error) {
    // Too many requests, and failures of the API, say nothing about the Service: its owner must not wait for them.
    if (retryAfterOf(error) !== undefined) return allowed(`DO API is throttled, allowing to prevent blocking: ${textOf(error)}`);
    if (!(error instanceof ApiError)) return during('failed to get a response from DO API')(error);
    if (error.status < 500) return denied(`invalid load balancer definition: ${error.message}`);
    return allowed(
      `received unexpected status code (${error.status}) from DO API, allowing to prevent blocking: ${error.message}`,
    );
  }
}

const isService = (value: unknown): value is Service => typeof value === 'object' && value !== null && 'metadata' in value;

/** Served at upstream's path. Rejects when nobody answers. */
export const loadBalancerWebhook = (deps: AdmissionDeps): CloudWebhook => ({
  path: '/lb-service',
  async admit({ object, oldObject }) {
    if (!isService(object)) throw new Error('failed to decode admission request: it has no object');
    return decide(object, isService(oldObject) ? oldObject : undefined, deps);
  },
});
