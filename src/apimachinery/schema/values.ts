// How one value that is not a struct is read: checked as Go's decoder checks it and brought to the text the encoder writes.
import { canonicalize, QuantityError } from '../quantity/index.ts';
import { decodeBase64, encodeBase64, isCanonicalBase64 } from './base64.ts';
import { DecodeContext, DecodeError, jsonKind } from './context.ts';
import { formatGoTime, isCanonicalTime, parseGoTime, TimeError, type TimeLayout } from './go-time.ts';
import type { FieldSchema } from './types.ts';

/** Reads one value (never null); undefined after a saved error. */
export type Read = (value: unknown, context: DecodeContext) => unknown;

/** What a value type needs: how to read it, its zero value, and whether Go's omitempty drops a value. */
export interface ValueCoder {
  read: Read;
  /** A fresh zero value as the encoder writes it. */
  zero(): unknown;
  /** Whether omitempty drops the value. Structs and special types do not have this: they are never dropped. */
  isEmpty?(value: unknown): boolean;
}

const saved = (context: DecodeContext, value: unknown, goType: string, kind?: string): undefined => {
  context.saveWrong(value, goType, kind);
};

const stringCoder = (goType: string): ValueCoder => ({
  read: (value, context) => (typeof value === 'string' ? value : saved(context, value, goType, 'string')),
  zero: () => '',
  isEmpty: (value) => value === '',
});

const boolCoder = (goType: string): ValueCoder => ({
  read: (value, context) => (typeof value === 'boolean' ? value : saved(context, value, goType, 'bool')),
  zero: () => false,
  isEmpty: (value) => value === false,
});

const ranges: Record<string, [number, number]> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, 2 ** 64],
};

function integerCoder(type: string, goType: string): ValueCoder {
  const [low, high] = ranges[type] ?? [0, 0];
  return {
    read(value, context) {
      if (typeof value !== 'number') return saved(context, value, goType, type);
      const { literal } = context;
      if (literal === undefined && Number.isInteger(value) && value >= low && value <= high) return value === 0 ? 0 : value;
      context.save(context.mismatch(`number ${literal ?? value}`, goType, type));
    },
    zero: () => 0,
    isEmpty: (value) => value === 0,
  };
}

const floatCoder = (goType: string, kind: string): ValueCoder => ({
  read: (value, context) => (typeof value === 'number' ? value : saved(context, value, goType, kind)),
  zero: () => 0,
  isEmpty: (value) => value === 0,
});

const bytesCoder = (goType: string): ValueCoder => ({
  read(value, context) {
    if (Array.isArray(value)) return bytesOfNumbers(value, context);
    if (typeof value !== 'string') return saved(context, value, goType, 'slice');
    if (context.trusted || isCanonicalBase64(value)) return value;
    const bytes = decodeBase64(value);
    if (bytes instanceof Uint8Array) return encodeBase64(bytes);
    context.save(new DecodeError(`illegal base64 data at input byte ${bytes.corruptAt}`));
  },
  zero: () => null,
  isEmpty: (value) => value === '',
});

/** Go reads an array of numbers into a byte slice, too. */
function bytesOfNumbers(values: unknown[], context: DecodeContext): string | undefined {
  for (const value of values) {
    if (typeof value !== 'number') return saved(context, value, 'uint8', 'uint8');
    if (!Number.isInteger(value) || value < 0 || value > 255) context.save(context.mismatch(`number ${value}`, 'uint8', 'uint8'));
  }
  return encodeBase64(Uint8Array.from(values as number[]));
}

const timeCoder = (layout: TimeLayout): ValueCoder => ({
  read(value, context) {
    if (typeof value !== 'string') throw context.mismatch(jsonKind(value), 'string', 'own');
    if (context.trusted || isCanonicalTime(value, layout)) return value === zeroTimes[layout] ? null : value;
    try {
      return formatGoTime(parseGoTime(value, layout), layout);
    } catch (error) {
      throw error instanceof TimeError ? new DecodeError(error.message) : error;
    }
  },
  zero: () => null,
});
const zeroTimes = { time: '0001-01-01T00:00:00Z', microTime: '0001-01-01T00:00:00.000000Z' };

const quantityCoder: ValueCoder = {
  read(value, context) {
    if (context.trusted && typeof value === 'string') return value;
    try {
      return canonicalize((typeof value === 'string' ? value : (context.literal ?? JSON.stringify(value))).trim());
    } catch (error) {
      throw error instanceof QuantityError ? new DecodeError(error.message) : error;
    }
  },
  zero: () => '0',
};

const intOrStringCoder: ValueCoder = {
  read(value, context) {
    if (typeof value === 'string') return value;
    if (typeof value !== 'number') throw context.mismatch(jsonKind(value), 'int32', 'own');
    const { literal } = context;
    if (literal === undefined && Number.isInteger(value) && Math.abs(value + 0.5) <= 2 ** 31) return value === 0 ? 0 : value;
    throw context.mismatch(`number ${literal ?? value}`, 'int32', 'own');
  },
  zero: () => 0,
};

/** Arbitrary JSON is kept as it came: the subtree is shared, not copied. */
const opaqueCoder: ValueCoder = { read: (value) => value, zero: () => null };

/** The coder of everything but messages and apiextensions' either-or types. */
export function valueCoder(type: FieldSchema['type'], goType: string): ValueCoder {
  switch (type) {
    case 'string':
      return stringCoder(goType);
    case 'bool':
      return boolCoder(goType);
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
      return integerCoder(type, goType);
    case 'float':
      return floatCoder(goType, 'float32');
    case 'double':
      return floatCoder(goType, 'float64');
    case 'bytes':
      return bytesCoder(goType);
    case 'time':
    case 'microTime':
      return timeCoder(type);
    case 'quantity':
      return quantityCoder;
    case 'intOrString':
      return intOrStringCoder;
    default:
      return opaqueCoder;
  }
}

/** The coder of JSONSchemaPropsOrArray, OrBool and OrStringArray of apiextensions, whose own decoders are not strict. */
export function eitherCoder(type: FieldSchema['type'], schema: ValueCoder): ValueCoder {
  const list = (value: unknown[], read: Read, context: DecodeContext): unknown[] | null =>
    value.length === 0 ? null : value.map((element) => (element === null ? {} : read(element, context)));
  const inner = (read: (context: DecodeContext) => unknown, outer: DecodeContext): unknown => {
    const context = new DecodeContext({ trusted: outer.trusted });
    try {
      const value = read(context);
      if (context.firstError) throw context.firstError;
      return value;
    } catch (error) {
      if (error instanceof DecodeError && error.mismatch) {
        const { value, goType, path, kind } = error.mismatch;
        throw outer.mismatch(value, goType, kind, path);
      }
      throw error;
    }
  };
  const strings = stringCoder('string');
  return {
    read(value, context) {
      if (Array.isArray(value)) {
        if (type === 'schemaOrBool') throw new DecodeError('boolean or JSON schema expected');
        const read = type === 'schemaOrArray' ? schema.read : strings.read;
        return inner((nested) => list(value, read, nested), context);
      }
      if (typeof value === 'object') return inner((nested) => schema.read(value, nested), context);
      if (type === 'schemaOrBool' && typeof value !== 'boolean') throw new DecodeError('boolean or JSON schema expected');
      return type === 'schemaOrBool' ? value : null;
    },
    zero: () => (type === 'schemaOrBool' ? false : null),
  };
}
