// Questions about single things that come close together, asked as one (cloud-provider-aws batcher). When a batch fails because of one of its
// questions, each is asked alone; any other failure is everybody's.
import type { Clock } from 'sagong/cloud-provider';
import { batchAgeMaxMs, batchIdleMs, loneQuestionsMax } from '../limits.ts';

export interface BatcherOptions<Answer> {
  clock: Clock;
  sizeMax: number;
  /** Answers by key; a key may be missing. */
  ask(keys: string[]): Promise<ReadonlyMap<string, Answer>>;
  /** Whether a batch failed for what one of its keys is. */
  failsAlone(error: unknown): boolean;
}

interface Question<Answer> {
  key: string;
  resolve(answer: Answer | undefined): void;
  reject(error: unknown): void;
}

/** Runs `work` on all items, a few at a time. */
async function eachOf<Item>(items: readonly Item[], atATime: number, work: (item: Item) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker));
}

/** A function that gives the answer for a key, or undefined when there is none. */
export function createBatcher<Answer>({ clock, sizeMax, ask, failsAlone }: BatcherOptions<Answer>) {
  let waiting: Question<Answer>[] = [];
  let since = 0;
  let timer: { cancel(): void } | undefined;

  const alone = ({ key, resolve, reject }: Question<Answer>): Promise<void> =>
    ask([key]).then((answers) => resolve(answers.get(key)), reject);

  async function leave(): Promise<void> {
    timer?.cancel();
    const questions = waiting;
    waiting = [];
    try {
      const answers = await ask([...new Set(questions.map(({ key }) => key))]);
      for (const { key, resolve } of questions) resolve(answers.get(key));
    } catch (error) {
      if (questions.length > 1 && failsAlone(error)) await eachOf(questions, loneQuestionsMax, alone);
      else for (const { reject } of questions) reject(error);
    }
  }

  return (key: string): Promise<Answer | undefined> =>
    new Promise((resolve, reject) => {
      const now = clock.monotonic();
      if (waiting.length === 0) since = now;
      waiting.push({ key, resolve, reject });
      if (waiting.length >= sizeMax) return void leave();
      timer?.cancel();
      timer = clock.setTimer(Math.min(batchIdleMs, since + batchAgeMaxMs - now), () => void leave());
    });
}
