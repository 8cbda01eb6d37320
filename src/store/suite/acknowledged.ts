// What a store has told its writers, and whether another look at it agrees: nothing acknowledged is missing or half there, nothing is there that
// nobody asked for. A write whose answer was an error, or never came, may or may not have happened.
import type { EmbeddedStore, KeyValue } from '../types.ts';

interface Attempt {
  /** Undefined: a deletion. */
  value: string | undefined;
  /** Revision of the answer; undefined: there was none, or an error. */
  revision: number | undefined;
}

export class Acknowledged {
  readonly #attempts = new Map<string, Attempt[]>();
  acknowledged = 0;
  refused = 0;

  /** Writes all of `changes` in one transaction and remembers what came of it. Answers the error, if there was one. */
  async write(store: EmbeddedStore, changes: ReadonlyMap<string, string | undefined>): Promise<Error | undefined> {
    const attempts = Array.from(changes, ([key, value]) => {
      const attempt: Attempt = { value, revision: undefined };
      this.#attempts.set(key, [...(this.#attempts.get(key) ?? []), attempt]);
      return attempt;
    });
    const success = Array.from(changes, ([key, value]) =>
      value === undefined ? { op: 'delete' as const, key } : { op: 'put' as const, key, value: Buffer.from(value) },
    );
    try {
      const { revision } = await store.txn({ compare: [], success });
      for (const attempt of attempts) attempt.revision = revision;
      this.acknowledged++;
      return undefined;
    } catch (error) {
      this.refused++;
      return error as Error;
    }
  }

  /** What `store` has lost, made up, or torn; empty when all is well. */
  problems(store: EmbeddedStore): string[] {
    const found = new Map(store.rangeSync({ key: '\0', rangeEnd: '\0' }).kvs.map((kv) => [kv.key, kv]));
    const problems: string[] = [];
    for (const [key, attempts] of this.#attempts) {
      const problem = judge(attempts, found.get(key));
      if (problem) problems.push(`${key}: ${problem}`);
      found.delete(key);
    }
    return [...problems, ...Array.from(found.keys(), (key) => `${key}: nobody wrote it`)];
  }
}

function judge(attempts: readonly Attempt[], kv: KeyValue | undefined): string | undefined {
  const last = attempts.reduce<Attempt | undefined>(
    (best, attempt) => ((attempt.revision ?? 0) > (best?.revision ?? 0) ? attempt : best),
    undefined,
  );
  const unknown = attempts.filter(({ revision }) => revision === undefined);
  if (!kv) {
    const mayBeGone = !last || last.value === undefined || unknown.some(({ value }) => value === undefined);
    return mayBeGone ? undefined : `the write of revision ${last?.revision} is lost`;
  }
  const value = String(Buffer.from(kv.value));
  if (kv.modRevision === last?.revision) return value === last.value ? undefined : `revision ${kv.modRevision} has another value`;
  if (kv.modRevision < (last?.revision ?? 0)) return `the write of revision ${last?.revision} is lost`;
  return unknown.some((attempt) => attempt.value === value) ? undefined : `revision ${kv.modRevision} was never written`;
}
