// What every request to Azure Resource Manager must be like.
import { Refusal, type VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Subscription } from './subscription.ts';

export function checkRequest(subscription: Subscription, { method, url, headers }: VendorRequest): void {
  if (method === 'GET' && (headers['if-match'] ?? headers['if-none-match']) !== undefined)
    throw new Refusal(412, 'PreconditionFailed', 'The conditions of a change do not fit a question.');
  subscription.needGroup(decodeURIComponent(url.pathname));
  if (!url.searchParams.get('api-version'))
    throw new Refusal(
      400,
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    );
}
