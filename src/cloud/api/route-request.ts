// From a request line to an operation and its raw parameters. Pure.
import { notFound, Refusal, invalid } from './errors.ts';
import { type Method, parameterNames } from './operation.ts';
import { type OperationId, operationEntries } from './operations.ts';

export interface RoutedRequest {
  operationId: OperationId;
  /** Decoded. */
  parameters: Record<string, string>;
}

interface Entry {
  operationId: OperationId;
  segments: readonly string[];
}

const segmentsOf = (path: string): string[] => path.split('/').slice(1);
const isParameter = (segment: string): boolean => segment.startsWith('{');

/** Operations by their number of segments, so that only a few are compared with a path. */
const table = new Map<number, (Entry & { method: Method })[]>();
for (const [operationId, { method, path }] of operationEntries) {
  const segments = segmentsOf(path);
  table.set(segments.length, [...(table.get(segments.length) ?? []), { operationId, segments, method }]);
}

const matches = ({ segments }: Entry, given: readonly string[]): boolean =>
  segments.every((segment, index) => (isParameter(segment) ? given[index] !== '' : segment === given[index]));

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid(undefined, `the path is not percent-encoded: ${segment}`);
  }
}

/** Finds the operation of a request. Throws a Refusal: 404 for an unknown path, 405 for a method that the path does not have. */
export function routeRequest(method: string, pathname: string): RoutedRequest {
  const given = segmentsOf(pathname);
  const candidates = (table.get(given.length) ?? []).filter((entry) => matches(entry, given));
  const entry = candidates.find((candidate) => candidate.method === method);
  if (entry) {
    const values = given.filter((_, index) => isParameter(entry.segments[index] ?? '')).map(decoded);
    const names = entry.segments.filter(isParameter).flatMap(parameterNames);
    return {
      operationId: entry.operationId,
      parameters: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ''])),
    };
  }
  if (candidates.length === 0) throw notFound('Path', pathname);
  throw new Refusal(405, 'MethodNotAllowed', `the path takes ${candidates.map((candidate) => candidate.method).join(', ')}`);
}
