// What arrives on a connection that has left HTTP. A peer may send small frames as fast as the line takes them, ask for an answer to each, and read
// none: what it sends is taken in turns between which others go on, and not at all while too many answers wait to be read.
import type { Duplex } from 'node:stream';
import { createTurns, createTurnstile, systemClock } from '#host';
import { limits } from '../limits.ts';

/** All connections share the turns of the one thread. Who was let in goes past those who wait. */
const clock = systemClock();
const turnstile = createTurnstile({ clock, turns: createTurns(clock), overtaking: true });

export class Intake {
  readonly #transport: Duplex;
  readonly #take: (piece: Buffer) => void;
  readonly #holders = new Set<unknown>();
  #answerBytes = 0;
  #resting = false;
  #stopped = false;

  /** `take` gets what arrives in small pieces; it must not throw. */
  constructor(transport: Duplex, take: (piece: Buffer) => void) {
    this.#transport = transport;
    this.#take = take;
    transport.on('data', (chunk: Buffer) => {
      if (!this.#stopped) this.#arrived(chunk);
    });
    transport.on('drain', () => {
      this.#answerBytes = 0;
      this.release(this.#transport);
    });
  }

  /** Nothing is taken until everybody who held it has released it. */
  hold(who: unknown): void {
    if (this.#stopped) return;
    this.#holders.add(who);
    this.#transport.pause();
  }

  release(who: unknown): void {
    if (this.#holders.delete(who)) this.#goOn();
  }

  /** Nobody holds it any more. */
  releaseAll(): void {
    this.#holders.clear();
    this.#goOn();
  }

  /** Counts an answer that the peer made us write; who does not read them is not listened to. */
  answered(bytes: number): void {
    this.#answerBytes = this.#transport.writableNeedDrain ? this.#answerBytes + bytes : 0;
    if (this.#answerBytes > limits.unreadAnswerBytesMax) this.hold(this.#transport);
  }

  /** Throws away what arrives from now on: unread bytes would hide the end of the connection. */
  stop(): void {
    this.#stopped = true;
    this.#transport.resume();
  }

  #arrived(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.#holders.size === 0 && !this.#resting) {
      const turn = turnstile();
      if (turn) {
        this.#rest(turn);
        break;
      }
      this.#take(chunk.subarray(at, (at += limits.intakePieceBytes)));
      if (this.#stopped) return;
    }
    // Given back, so that the end of the connection comes after it.
    if (at < chunk.length && !this.#transport.destroyed) this.#transport.unshift(chunk.subarray(at));
  }

  #rest(turn: Promise<void>): void {
    this.#resting = true;
    this.#transport.pause();
    void turn.then(() => {
      this.#resting = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#holders.size === 0 && !this.#resting && !this.#stopped) this.#transport.resume();
  }
}
