// Answers of a cloud kept for a while: one question at a time for each key, failures are not kept, and what a provider changed itself is forgotten.
import type { Clock } from '#utils';
import { cacheEntriesMax } from './limits.ts';
import { abortable, type SharedSignal, sharedSignal } from './shared-signal.ts';

export interface CacheOptions<Value> {
  clock: Pick<Clock, 'monotonic'>;
  /** How long an answer counts; a function where it depends on the answer. */
  ttlMs: number | ((value: Value) => number);
  read(key: string, signal: AbortSignal): Promise<Value>;
  /** Oldest entries go first. */
  entriesMax?: number;
}

export interface Cache<Value> {
  /** What is known, at most `ttlMs` old; asks otherwise. Callers at the same time share one question, which ends when all of them have gone. */
  get(key: string, signal?: AbortSignal): Promise<Value>;
  /** What is known, without asking. */
  peek(key: string): Value | undefined;
  /** The next `get` asks. An answer that is under way is not kept. */
  forget(key?: string): void;
}

interface Entry<Value> {
  value: Value;
  untilMs: number;
}
interface Question<Value> {
  answer: Promise<Value>;
  shared: SharedSignal;
  forgotten: boolean;
}

export function createCache<Value>({ clock, ttlMs, read, entriesMax = cacheEntriesMax }: CacheOptions<Value>): Cache<Value> {
  const entries = new Map<string, Entry<Value>>();
  const questions = new Map<string, Question<Value>>();

  function keep(key: string, value: Value): void {
    entries.delete(key);
    entries.set(key, { value, untilMs: clock.monotonic() + (typeof ttlMs === 'number' ? ttlMs : ttlMs(value)) });
    if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string);
  }
  async function readOnce(key: string, question: Omit<Question<Value>, 'answer'>): Promise<Value> {
    try {
      const value = await read(key, question.shared.signal);
      if (!question.forgotten) keep(key, value);
      return value;
    } finally {
      question.shared.release();
      if (!question.forgotten) questions.delete(key);
    }
  }
  function ask(key: string): Question<Value> {
    const question = { shared: sharedSignal(), forgotten: false };
    const asked = Object.assign(question, { answer: Promise.resolve().then(() => readOnce(key, question)) });
    questions.set(key, asked);
    return asked;
  }
  const peek = (key: string): Value | undefined => {
    const entry = entries.get(key);
    return entry && entry.untilMs > clock.monotonic() ? entry.value : undefined;
  };
  return {
    peek,
    async get(key, signal) {
      signal?.throwIfAborted();
      const entry = entries.get(key);
      if (entry && entry.untilMs > clock.monotonic()) return entry.value;
      const question = questions.get(key) ?? ask(key);
      question.shared.join(signal);
      return abortable(question.answer, signal);
    },
    forget(key) {
      const keys = key === undefined ? [...questions.keys()] : [key];
      for (const one of keys) {
        const question = questions.get(one);
        if (question) question.forgotten = true;
        questions.delete(one);
      }
      if (key === undefined) entries.clear();
      else entries.delete(key);
    },
  };
}
