// Failure domains: for which component a piece of running code works. Node keeps it across timers, promises and events (AsyncLocalStorage), so that
// an error that nobody caught is known to be one component's and not everybody's.
import { AsyncLocalStorage } from 'node:async_hooks';

export interface Domain {
  readonly name: string;
  /** Nobody caught the error: nobody knows in which state the component is now. */
  stray(error: unknown): void;
  /** The error was caught where it happened, `where`: the component goes on. */
  caught(where: string, error: unknown): void;
}

/** Null: in no domain, whatever the process's own is; undefined: in that one. */
type Place = Domain | null | undefined;

const places = new AsyncLocalStorage<Place>();
/** The domain of what runs in no other. */
let ofProcess: Domain | undefined;
const domainAt = (place: Place): Domain | undefined => (place === undefined ? ofProcess : (place ?? undefined));
/** The innermost domain that an error left: for microtasks, some versions of Node have forgotten it when the error arrives at the process. */
const left = new WeakMap<object, Domain>();

const isObject = (error: unknown): error is object => typeof error === 'object' && error !== null;

function at<T>(place: Place, work: () => T): T {
  const marked = (): T => {
    try {
      return work();
    } catch (error) {
      const domain = domainAt(place);
      if (domain && isObject(error) && !left.has(error)) left.set(error, domain);
      throw error;
    }
  };
  return domainOfNow() === domainAt(place) ? marked() : places.run(place, marked);
}

/** Does the work, and all that it starts, in the domain; `undefined`: in none. */
export const inDomain = <T>(domain: Domain | undefined, work: () => T): T => at(domain ?? null, work);

/**
 * Makes the domain that of all code of this process that was not put into one, or into none: for the only component of a process, or the first. Nothing
 * has to be followed until there is another, which is what AsyncLocalStorage costs before Node 24: from its first use on it is asked at every promise.
 */
export function ownProcess(domain: Domain | undefined): void {
  ofProcess = domain;
}

/** The function, made to run in the present failure domain, whichever domain calls it. */
export function bound<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  const place = places.getStore();
  return (...args) => at(place, () => work(...args));
}

/** The domain in which the current work runs; undefined outside of all domains. */
export const domainOfNow = (): Domain | undefined => domainAt(places.getStore());

/** The component for which this is called; undefined: for none. */
export const domainName = (): string | undefined => domainOfNow()?.name;

/** Tells the domain of now about an error that was caught. */
export const noteCaught = (where: string, error: unknown): void => domainOfNow()?.caught(where, error);

/**
 * For the process's own handler of uncaught exceptions and unhandled rejections: gives the error to the domain in which it arose. False where it
 * arose in none.
 */
export function handStray(error: unknown): boolean {
  const domain = (isObject(error) ? left.get(error) : undefined) ?? domainOfNow();
  domain?.stray(error);
  return domain !== undefined;
}
