// What a logged value turns into. Errors become their message; circular or exotic values never make logging fail.

const depthMax = 8;

function visit(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'function':
    case 'symbol':
      return String(value);
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (value instanceof Error) return value.message;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (depth >= depthMax) return '...';
  if (Array.isArray(value)) return value.map((item) => visit(item, depth + 1));
  if (value instanceof Map) return visit(Object.fromEntries(value), depth);
  if (value instanceof Set) return visit([...value], depth);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item, depth + 1)]));
}

/** A copy of `value` that JSON.stringify takes. */
export function toJsonValue(value: unknown): unknown {
  try {
    return visit(value, 0);
  } catch (error) {
    return `<unprintable: ${error instanceof Error ? error.message : typeof value}>`;
  }
}
