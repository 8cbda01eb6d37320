// Azure's own clients, with our step in their pipelines. Loaded when the provider is, as they are large.
import { ComputeManagementClient } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import type { TokenCredential } from '@azure/identity';
import type { Pipeline, PipelinePolicy } from '@azure/core-rest-pipeline';

export interface ClientsOptions {
  credential: TokenCredential;
  subscription: string;
  networkSubscription: string;
  /** `https://management.azure.com`. */
  endpoint: string;
  /** The scope of tokens: `https://management.azure.com/.default`. */
  scope: string;
  policy: PipelinePolicy;
  userAgent: string;
}
export interface Clients {
  network: NetworkManagementClient;
  compute: ComputeManagementClient;
}

const bearer = 'bearerTokenAuthenticationPolicy';

/** The SDK sends no token without TLS. An emulator on loopback gets one all the same; the configuration allows no other address without TLS. */
const plainBearer = (credential: TokenCredential, scope: string): PipelinePolicy => ({
  name: bearer,
  async sendRequest(request, next) {
    const token = await credential.getToken(scope, request.abortSignal ? { abortSignal: request.abortSignal } : {});
    request.headers.set('authorization', `Bearer ${token?.token ?? ''}`);
    return next(request);
  },
});

function equip(pipeline: Pipeline, { endpoint, credential, scope, policy }: ClientsOptions): void {
  for (const name of ['defaultRetryPolicy', 'throttlingRetryPolicy', 'exponentialRetryPolicy', 'systemErrorRetryPolicy'])
    pipeline.removePolicy({ name });
  pipeline.addPolicy(policy, { phase: 'Retry' });
  if (!endpoint.startsWith('http:')) return;
  pipeline.removePolicy({ name: bearer });
  pipeline.addPolicy(plainBearer(credential, scope), { phase: 'Sign' });
}

export function createClients(options: ClientsOptions): Clients {
  const { credential, subscription, networkSubscription, endpoint, scope, userAgent } = options;
  const common = {
    endpoint,
    allowInsecureConnection: endpoint.startsWith('http:'),
    retryOptions: { maxRetries: 0 },
    userAgentOptions: { userAgentPrefix: userAgent },
  };
  const network = new NetworkManagementClient(credential, networkSubscription, { ...common, credentialScopes: scope });
  const compute = new ComputeManagementClient(credential, subscription, { ...common, credentials: { scopes: [scope] } });
  equip(network.pipeline, options);
  equip(compute.pipeline as Pipeline, options);
  return { network, compute };
}
