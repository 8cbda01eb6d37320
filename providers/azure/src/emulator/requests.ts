// What every request to Azure Resource Manager must be like.
import { Refusal, type VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Resource } from './resource.ts';
import type { Subscription } from './subscription.ts';

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string';

/** The fields that resources of every type have. */
const fields: readonly (readonly [name: string, is: (value: unknown) => boolean, what: string])[] = [
  ['location', isText, 'a string'],
  ['properties', isObject, 'an object'],
  ['sku', isObject, 'an object'],
  ['tags', (value) => isObject(value) && Object.values(value as object).every(isText), 'an object of strings'],
  ['zones', (value) => Array.isArray(value) && value.every(isText), 'an array of strings'],
];

/** The body of a request that writes a resource, or a part of it. */
export function resourceIn({ body }: VendorRequest): Partial<Resource> {
  const unfit = (what: string): Refusal =>
    new Refusal(400, 'InvalidRequestContent', `The request content was invalid and could not be deserialized: ${what}.`);
  if (!isObject(body)) throw unfit('it must be an object');
  const given = body as Record<string, unknown>;
  const wrong = fields.find(([name, is]) => given[name] !== undefined && given[name] !== null && !is(given[name]));
  if (wrong) throw unfit(`'${wrong[0]}' must be ${wrong[2]}`);
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

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
