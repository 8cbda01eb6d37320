// Progress for people: one line for each step, with a spinner on a terminal and plain lines elsewhere.
import { type Clock, visible } from '#utils';

export interface Progress {
  /** Runs `work` under a title; prints how long it took when it was over a second. */
  step<T>(title: string, work: () => Promise<T>): Promise<T>;
  say(text: string): void;
}

const frames = ['-', '\\', '|', '/'];
const frameMs = 120;
const worthTellingMs = 1_000;

export function createProgress(out: { write(text: string): unknown; isTTY?: boolean }, clock: Clock): Progress {
  const line = (text: string): void => void out.write(`${text}\n`);
  let drawing = false;
  return {
    // In the place of a title that is drawn again below it.
    say: (text) => line(`${drawing ? '\r\u001B[K' : ''}${visible(text)}`),
    async step(named, work) {
      const title = visible(named);
      const startedMs = clock.monotonic();
      let frame = 0;
      const draw = (): void => void out.write(`\r ${frames[frame++ % frames.length]} ${title} `);
      const timer = out.isTTY ? setInterval(draw, frameMs) : undefined;
      if (timer) draw();
      drawing = timer !== undefined;
      const finish = (mark: string): void => {
        if (timer) clearInterval(timer);
        drawing = false;
        const tookMs = clock.monotonic() - startedMs;
        line(`${timer ? '\r' : ''} ${mark} ${title}${tookMs > worthTellingMs ? ` (${(tookMs / 1000).toFixed(1)} s)` : ''}  `);
      };
      try {
        const result = await work();
        finish('✓');
        return result;
      } catch (error) {
        finish('✗');
        throw error;
      }
    },
  };
}
