// What is noted beside a request while it is served: warnings for whoever asked (KEP-1693) and facts for the audit log.
import type { Status } from '#apimachinery/errors';
import { cutWarningCharsMax, warningCharsMax } from '../limits.ts';
import type { UserInfo } from './request.ts';

export type AddAnnotation = (key: string, value: string, level?: 'Metadata' | 'Request') => void;

/** What names an object that a request carries. */
interface ObjectNames {
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

/** The audit log's record of one request. JSON is only made for levels that show it. */
export interface RequestRecord {
  annotate(key: string, value: string): void;
  /** For admission: keys need a domain, and some values are only for levels that show objects. */
  annotateAdmission: AddAnnotation;
  impersonate(user: UserInfo, constraint: string): void;
  requestObject(json: () => string, names?: ObjectNames): void;
  requestPatch(json: () => string): void;
  responseObject(json: () => string): void;
  responseStatus(status: Partial<Status>): void;
  responseCode(code: number): void;
}

export interface Notes {
  /** Each text once, in the order they came. */
  readonly warnings: readonly string[];
  warn(message: string): void;
  /** UIDs of the flow schema and the priority level that the request was served at; absent: it takes no seats. */
  flow?: { schema: string; level: string } | undefined;
  /** Absent: the request is not recorded. */
  audit?: RequestRecord | undefined;
  /** The bytes of the request's body and of its answer, where they go over a connection. */
  receivedBytes: number;
  sentBytes: number;
  /** How long others were waited for: webhooks, and a seat. */
  awayMs: number;
}

const none: readonly string[] = [];

/** The warnings of one answer: from so many characters on they are all cut, so that the head of the answer stays small (filters/warning.go). */
class Warnings {
  readonly #given = new Set<string>();
  #isCutting = false;
  #chars = 0;
  shown: string[] = [];

  add(message: string): void {
    if (message === '' || this.#given.has(message) || (this.#isCutting && this.#chars >= warningCharsMax)) return;
    this.#given.add(message);
    if (this.#isCutting || this.#chars + message.length <= warningCharsMax) return this.#show(message);
    this.#isCutting = true;
    this.#chars = 0;
    this.shown = [];
    for (const given of this.#given) this.#show(given);
  }

  #show(message: string): void {
    const text = this.#isCutting
      ? Array.from(message.slice(0, 2 * cutWarningCharsMax))
          .slice(0, cutWarningCharsMax)
          .join('')
      : message;
    this.#chars += text.length;
    this.shown.push(text);
  }
}

class NotesOfOne implements Notes {
  #warnings: Warnings | undefined;
  audit: RequestRecord | undefined = undefined;
  flow: Notes['flow'] = undefined;
  receivedBytes = 0;
  sentBytes = 0;
  awayMs = 0;

  get warnings(): readonly string[] {
    return this.#warnings?.shown ?? none;
  }

  warn = (message: string): void => {
    this.#warnings ??= new Warnings();
    this.#warnings.add(message);
  };
}

export const createNotes = (): Notes => new NotesOfOne();
