// The region load balancers are made in: the configured one, once the API has confirmed it, else that of the machine this runs on, as its
// metadata service tells (https://docs.digitalocean.com/reference/api/metadata/).
import { boundedText, during } from 'sagong/cloud-provider/kit';
import type { DigitalOceanApi } from './api/client.ts';
import { metadataBytesMax, metadataTimeoutMs } from './limits.ts';

async function ownRegion(metadataUrl: string): Promise<string> {
  const signal = AbortSignal.timeout(metadataTimeoutMs);
  const response = await fetch(`${metadataUrl}/metadata/v1/region`, { redirect: 'error', signal });
  const text = await boundedText(response, metadataBytesMax);
  if (!response.ok) throw new Error(`droplet metadata returned non-200 status code: ${response.status}`);
  return text.trim();
}

async function confirmed(api: DigitalOceanApi, region: string, signal?: AbortSignal): Promise<string> {
  const known = await api.regions(signal).catch((error: unknown) => {
    return during('failed to determine if region is valid')(error);
  });
  if (!known.some(({ slug }) => slug === region)) throw new Error(`invalid region specified: ${region}`);
  return region;
}

/** Asks once; after a failure the next call asks again. */
export function regionSource(
  api: DigitalOceanApi,
  { region, metadataUrl }: { region: string; metadataUrl: string },
): (signal?: AbortSignal) => Promise<string> {
  let known: string | undefined;
  return async (signal) => {
    try {
      known ??= await (region === '' ? ownRegion(metadataUrl) : confirmed(api, region, signal));
      return known;
    } catch (error) {
      return during('failed to determine region')(error);
    }
  };
}
