// The API refuses a whole load balancer for one droplet that is gone, although its Node may still be there: the others must not wait for it.
import { callErrorOf } from 'sagong/cloud-provider/kit';
import type { DigitalOceanApi } from '../api/client.ts';
import type { LoadBalancerRequest } from '../api/types.ts';

/** Sends the request; when it is refused as unprocessable, once more with the droplets that exist, where they are fewer. */
export async function withLiveDroplets<T>(
  api: Pick<DigitalOceanApi, 'droplets'>,
  request: LoadBalancerRequest,
  send: (request: LoadBalancerRequest) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await send(request);
  } catch (error) {
    const { droplet_ids: ids = [] } = request;
    if (callErrorOf(error)?.status !== 422 || ids.length === 0) throw error;
    const there = new Set((await api.droplets(undefined, signal)).map(({ id }) => id));
    const left = ids.filter((id) => there.has(id));
    if (left.length === ids.length) throw error;
    return send({ ...request, droplet_ids: left });
  }
}
