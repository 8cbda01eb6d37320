// Lists in pages, by a token in the header opc-next-page (https://docs.oracle.com/iaas/Content/API/Concepts/usingapi.htm#nine).
import { pageByToken, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { invalid } from './refusals.ts';

const pageItemsDefault = 100;
const pageItemsMax = 1_000;

export function listAnswer(
  items: readonly object[],
  { url }: VendorRequest,
  wrap: (items: object[]) => unknown = (all) => all,
): VendorAnswer {
  const limit = Number(url.searchParams.get('limit') ?? pageItemsDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageItemsMax) throw invalid('limit is out of range');
  const token = url.searchParams.get('page');
  if (token !== null && !/^[\w-]+$/.test(token)) throw invalid('page is not a token');
  const { items: page, next } = pageByToken(items, token, limit);
  return { body: wrap(page), headers: next === undefined ? {} : { 'opc-next-page': next } };
}

/** A query parameter that must be there. */
export function needed({ url }: VendorRequest, name: string): string {
  const value = url.searchParams.get(name);
  if (!value) throw invalid(`${name} must be given`);
  return value;
}
/** Items whose fields are as the query says, where it says something. */
export const matching = <T extends object>(items: readonly T[], { url }: VendorRequest, fields: readonly string[]): T[] =>
  items.filter((item) =>
    fields.every((field) => {
      const value = url.searchParams.get(field);
      return value === null || Reflect.get(item, field) === value;
    }),
  );

export const bodyOf = <T = Record<string, unknown>>({ body }: VendorRequest): T => {
  if (typeof body !== 'object' || body === null) throw invalid('the body is not a JSON object');
  return body as T;
};
