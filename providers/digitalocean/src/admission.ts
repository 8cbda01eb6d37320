// The admission webhook for Services of type LoadBalancer (upstream: digitalocean-cloud-controller-manager-admission-server): what the load
// balancer could not be made of is refused when somebody writes it, not told by an event afterwards. The API checks the request without
// carrying it out.
import type { CloudWebhook, Service } from 'sagong/cloud-provider';
import { callErrorOf, during, textOf } from 'sagong/cloud-provider/kit';
import { annotationOf, annotations } from './annotations.ts';
import type { DigitalOceanApi } from './api/client.ts';
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

/**
 * For a call that failed: the answer where the API said nothing about the Service, as with too many requests and failures of its own; undefined
 * where it did, or where no call was made. Throws where nobody answered.
 */
function withoutAnswer(error: unknown): Answer | undefined {
  const call = callErrorOf(error);
  if (!call) return undefined;
  const text = textOf(error);
  if (call.kind === 'throttled') return allowed(`DO API is throttled, allowing to prevent blocking: ${text}`);
  if (call.status === undefined) return during('failed to get a response from DO API')(error);
  if (call.kind !== 'transient') return undefined;
  return allowed(`received unexpected status code (${call.status}) from DO API, allowing to prevent blocking: ${text}`);
}

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
    return withoutAnswer(error) ?? denied(textOf(error));
  }
  if (old && (await isSame(request, old, deps))) return allowed('new service has irrelevant changes');
  const id = annotationOf(service, annotations.id) || (old && annotationOf(old, annotations.id));
  const region = await deps.region();
  try {
    await deps.api.validateLoadBalancer(old && id ? id : undefined, { ...request, region });
    return allowed('valid load balancer definition');
  } catch (error) {
    return withoutAnswer(error) ?? denied(`invalid load balancer definition: ${textOf(error)}`);
  }
}

const isService = (value: unknown): value is Service => typeof value === 'object' && value !== null && 'metadata' in value;

/** Makes the webhook at upstream's path. It rejects when nobody answers. */
export const loadBalancerWebhook = (deps: AdmissionDeps): CloudWebhook => ({
  path: '/lb-service',
  async admit({ object, oldObject }) {
    if (!isService(object)) throw new Error('failed to decode admission request: it has no object');
    return decide(object, isService(oldObject) ? oldObject : undefined, deps);
  },
});
