// The official SDK, @digitalocean/dots: it knows the addresses of the API, their parameters and how a request is authenticated. Its models are
// left aside, because of three faults in 1.19.0: POST and PUT of load balancers go out without their body; answers that hold `droplet_ids`
// (every load balancer and firewall) cannot be read; and its TypeScript sources, which it ships in the place of declarations, do not compile
// under strict settings. So the SDK makes each request, and body and answer are the JSON that the API's reference documents.

/** A request that the SDK made (RequestInformation of Microsoft's Kiota). */
export interface SdkRequest {
  readonly URL: string;
  readonly httpMethod?: string;
  setStreamContent(value: ArrayBuffer, contentType: string): void;
}

interface Query {
  queryParameters?: Record<string, string | number | undefined>;
}
interface Item {
  toGetRequestInformation(): SdkRequest;
  toPutRequestInformation(body?: unknown): SdkRequest;
  toDeleteRequestInformation(): SdkRequest;
}
interface Collection {
  toGetRequestInformation(query: Query): SdkRequest;
  toPostRequestInformation(body?: unknown): SdkRequest;
}

/** The part of the SDK's client that is used. */
export interface SdkClient {
  v2: {
    droplets: Collection & { byDroplet_id(id: number): Item };
    load_balancers: Collection & { byLb_id(id: string): Item };
    certificates: Collection & { byCertificate_id(id: string): Item };
    firewalls: Collection & { byFirewall_id(id: string): Item };
    regions: Collection;
    tags: Collection & { byTag_id(name: string): { resources: Collection } };
  };
}

interface SdkAdapter {
  baseUrl: string;
  convertToNativeRequest(request: SdkRequest): Promise<SdkNativeRequest>;
}
export interface SdkNativeRequest {
  method: string;
  headers: Record<string, string>;
  body?: ArrayBuffer;
}

interface SdkModule {
  createServiceManager(keys: { digitalOcean: string }): { getService(name: 'digitalocean'): { adapter: SdkAdapter } };
  createDigitalOceanClient(adapter: SdkAdapter): SdkClient;
}

export interface Sdk {
  client: SdkClient;
  /** Authenticates a request and makes it what `fetch` takes. */
  native(request: SdkRequest): Promise<SdkNativeRequest>;
}

export const defaultApiUrl = 'https://api.digitalocean.com';

/** Loads the SDK for one account. Rejects when it is not installed. */
export async function loadSdk(accessToken: string, apiUrl: string): Promise<Sdk> {
  // By its address rather than its name, so that the SDK's sources are not compiled with ours.
  const sdk = (await import(/* @vite-ignore */ import.meta.resolve('@digitalocean/dots'))) as SdkModule;
  const { adapter } = sdk.createServiceManager({ digitalOcean: accessToken }).getService('digitalocean');
  adapter.baseUrl = apiUrl.replace(/\/+$/, '');
  return {
    client: sdk.createDigitalOceanClient(adapter),
    native: (request) => adapter.convertToNativeRequest(request),
  };
}
