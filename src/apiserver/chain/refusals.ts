// The requests that were refused last, for whoever asks why (`sagong explain`). Bounded: the oldest goes first, and equal ones are one.
import type { StatusError } from '#apimachinery/errors';
import type { RequestData, Target } from '../request/request.ts';
import { refusalsMax, refusalTextLengthMax } from '../limits.ts';

export interface Refusal {
  user: string;
  groups: readonly string[];
  verb: string;
  /** Absent: `path` was asked for. */
  target?: Target;
  path: string;
  /** The status of the answer: 403 by authorization or admission, 400 or 422 where what was sent was refused. */
  code: number;
  message: string;
  /** The request did not reach its endpoint: the user may not do that at all. */
  unauthorized: boolean;
  times: number;
  /** The last time, in milliseconds since the epoch. */
  atMs: number;
}

const refusedCodes = new Set([400, 403, 422]);
const short = (text: string): string => (text.length > refusalTextLengthMax ? `${text.slice(0, refusalTextLengthMax)}...` : text);

export class Refusals {
  readonly #byRequest = new Map<string, Refusal>();

  /** Notes that a user was refused. Answers with other codes are left out, and those that were given before it was known who asks. */
  note(request: RequestData, { status }: StatusError): void {
    const { code = 500, message = '' } = status;
    if (request.progress === 'received' || !refusedCodes.has(code)) return;
    const { user, verb, target, path, now, progress } = request;
    const unauthorized = progress === 'identified';
    const asked = target ? Object.values(target).join('/') : path;
    const id = short(`${user.name} ${verb} ${asked} ${code}`);
    const times = (this.#byRequest.get(id)?.times ?? 0) + 1;
    this.#byRequest.delete(id);
    const groups = user.groups.slice(0, refusalsMax);
    const about = { user: short(user.name), groups, verb, ...(target && { target }), path: short(path) };
    this.#byRequest.set(id, { ...about, code, message: short(message), unauthorized, times, atMs: now });
    if (this.#byRequest.size <= refusalsMax) return;
    const oldest = this.#byRequest.keys().next().value;
    if (oldest !== undefined) this.#byRequest.delete(oldest);
  }
  /** The newest first. */
  all(): Refusal[] {
    return [...this.#byRequest.values()].reverse();
  }
}
