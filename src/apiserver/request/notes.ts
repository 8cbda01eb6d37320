// What is noted beside a request while it is served: warnings for whoever asked (KEP-1693) and facts for the audit log.
import type { Status } from '#apimachinery/errors';
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
  /** Absent: the request is not recorded. */
  audit?: RequestRecord | undefined;
}

const none: readonly string[] = [];

class NotesOfOne implements Notes {
  #warnings: string[] | undefined;
  audit: RequestRecord | undefined = undefined;

  get warnings(): readonly string[] {
    return this.#warnings ?? none;
  }

  warn = (message: string): void => {
    const warnings = (this.#warnings ??= []);
    if (!warnings.includes(message)) warnings.push(message);
  };
}

export const createNotes = (): Notes => new NotesOfOne();
