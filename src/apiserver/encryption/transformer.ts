// How a value becomes what is stored and back (k8s.io/apiserver/pkg/storage/value). What needs no other program answers at once; only the
// first use of a key that a KMS plugin has to decrypt takes a promise.

export interface Plain {
  value: Uint8Array;
  /** Which key it was written with. A value whose mark is not the transformer's own is written again when it is updated. */
  mark: string;
}

export type Soon<T> = T | Promise<T>;

export interface Transformer {
  /** `key`: the key in the store; most ciphers bind the value to it. Throws or rejects when that cannot be done. */
  toStore(value: Uint8Array, key: string): Soon<Uint8Array>;
  fromStore(stored: Uint8Array, key: string): Soon<Plain>;
  /** The mark of what `toStore` writes now. */
  mark(): string;
}

export interface Prefixed {
  /** What values of this transformer begin with; '' is the identity. */
  prefix: string;
  transformer: Transformer;
}

/** Called after each transformation with its direction, the prefix of the provider, how long it took, and its error, if there was one. */
export type ObserveTransformation = (
  type: 'from_storage' | 'to_storage',
  prefix: string,
  milliseconds: number,
  error: unknown,
) => void;

const startsWith = (value: Uint8Array, prefix: Buffer): boolean =>
  value.length >= prefix.length && prefix.compare(value, 0, prefix.length) === 0;

/**
 * Writes with the first of `list`, reads with whichever can: values of rotated keys, and plain ones while they are not rewritten.
 * `unknown` is the error for values that begin with no prefix of the list.
 */
export function byPrefix(
  list: readonly Prefixed[],
  unknown: string,
  { observe, now }: { observe?: ObserveTransformation; now(): number },
): Transformer {
  const options = list.map(({ prefix, transformer }) => ({ prefix, bytes: Buffer.from(prefix), transformer }));
  const first = options[0];
  if (!first) throw new Error('no transformers');
  const started = (): number => (observe ? now() : 0);
  const read = (stored: Uint8Array, key: string, from: number, failures: unknown[], since: number): Soon<Plain> => {
    const at = options.findIndex(({ bytes }, index) => index >= from && startsWith(stored, bytes));
    const option = options[at];
    if (!option) {
      if (failures.length > 0) throw aggregateFailures(failures);
      observe?.('from_storage', 'unknown', now() - since, unknown);
      throw new Error(unknown);
    }
    const { prefix, bytes, transformer } = option;
    const done = ({ value, mark }: Plain): Plain => {
      observe?.('from_storage', prefix || 'identity', now() - since, undefined);
      return { value, mark: prefix + mark };
    };
    const failed = (error: unknown): Soon<Plain> => {
      // The identity refuses what is encrypted; another one may still read it.
      if (prefix !== '') {
        observe?.('from_storage', prefix, now() - since, error);
        failures.push(error);
      }
      return read(stored, key, at + 1, failures, since);
    };
    try {
      const soon = transformer.fromStore(stored.subarray(bytes.length), key);
      return soon instanceof Promise ? soon.then(done, failed) : done(soon);
    } catch (error) {
      return failed(error);
    }
  };
  return {
    fromStore: (stored, key) => read(stored, key, 0, [], started()),
    toStore(value, key) {
      const since = started();
      const done = (stored: Uint8Array): Uint8Array => {
        observe?.('to_storage', first.prefix, now() - since, undefined);
        return first.prefix === '' ? stored : Buffer.concat([first.bytes, stored]);
      };
      const failed = (error: unknown): never => {
        observe?.('to_storage', first.prefix, now() - since, error);
        throw error;
      };
      try {
        const soon = first.transformer.toStore(value, key);
        return soon instanceof Promise ? soon.then(done, failed) : done(soon);
      } catch (error) {
        return failed(error);
      }
    },
    mark: () => first.prefix + first.transformer.mark(),
  };
}

function aggregateFailures(failures: readonly unknown[]): Error {
  const texts = [...new Set(failures.map((failure) => (failure instanceof Error ? failure.message : String(failure))))];
  return new Error(texts.length > 1 ? `[${texts.join(', ')}]` : (texts[0] ?? ''));
}

const encrypted = Buffer.from('k8s:enc:');

/** Values as they are. What is encrypted is not taken for one. */
export const identity: Transformer = {
  toStore: (value) => value,
  fromStore(value) {
    if (startsWith(value, encrypted)) throw new Error('identity transformer tried to read encrypted data');
    return { value, mark: '' };
  },
  mark: () => '',
};
