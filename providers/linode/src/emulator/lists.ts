// Lists of the API: pages of 25 to 500 items, and filters in the header X-Filter
// (https://techdocs.akamai.com/linode-api/reference/filtering-and-sorting).
import { pageByNumber, type VendorAnswer, type VendorRequest } from 'sagong/cloud-provider/test-server';
import { invalid } from './refusals.ts';

type Item = object;
type Test = (item: Item) => boolean;

const pageItemsDefault = 100;
const pageItemsMin = 25;
const pageItemsMax = 500;

const fieldOf = (item: Item, field: string): unknown => (item as Record<string, unknown>)[field];

function comparison(field: string, wanted: unknown): Test {
  if (typeof wanted !== 'object' || wanted === null)
    return (item) => {
      const value = fieldOf(item, field);
      return Array.isArray(value) ? value.includes(wanted) : value === wanted;
    };
  const [[operator, operand] = ['']] = Object.entries(wanted);
  if (operator === '+contains')
    return (item) => {
      const value = fieldOf(item, field);
      return (Array.isArray(value) ? value : [value]).some((one) => String(one).includes(String(operand)));
    };
  if (operator === '+neq') return (item) => fieldOf(item, field) !== operand;
  throw invalid('X-Filter', `${operator} is not a known operator`);
}

/** `filterable`: fields that a filter may name. */
function testOf(filter: unknown, filterable: readonly string[]): Test {
  if (typeof filter !== 'object' || filter === null) throw invalid('X-Filter', 'Must be a JSON object');
  const tests = Object.entries(filter).map(([key, value]): Test => {
    if (key === '+or' || key === '+and') {
      const inner = (value as unknown[]).map((one) => testOf(one, filterable));
      return key === '+or' ? (item) => inner.some((test) => test(item)) : (item) => inner.every((test) => test(item));
    }
    if (!filterable.includes(key)) throw invalid('X-Filter', `Cannot filter on ${key}`);
    return comparison(key, value);
  });
  return (item) => tests.every((test) => test(item));
}

function filterOf(header: string | undefined): unknown {
  try {
    return JSON.parse(header ?? '{}');
  } catch {
    throw invalid('X-Filter', 'Must be JSON');
  }
}

/** One page of those that the filter lets through. */
export function listAnswer(items: readonly Item[], request: VendorRequest, filterable: readonly string[] = ['id']): VendorAnswer {
  const { searchParams } = request.url;
  const page = Number(searchParams.get('page') ?? 1);
  const size = Number(searchParams.get('page_size') ?? pageItemsDefault);
  if (!Number.isInteger(size) || size < pageItemsMin || size > pageItemsMax)
    throw invalid('page_size', `Must be between ${pageItemsMin} and ${pageItemsMax}`);
  const found = items.filter(testOf(filterOf(request.headers['x-filter']), filterable));
  const { items: data, pages } = pageByNumber(found, page, size);
  if (!Number.isInteger(page) || page < 1 || page > pages) throw invalid('page', 'Invalid page');
  return { body: { data, page, pages, results: found.length } };
}
