// The pace at which many stored objects are looked at: others go on between some and the next, because one that was never asked for has to be parsed.
import type { StoredObject } from './stored-object.ts';

/** What is to be waited for before work goes on, if anything is. */
export type Rest = () => Promise<void> | undefined;

/** What is looked at before the age of the turn is asked for: so many objects, of which one that has to be parsed counts as several. */
const looksMax = 128;
const parsingLooks = 8;

/** To be called before each object that is looked at: what is to be waited for first. */
export function paced(rest: Rest): (entry: StoredObject) => Promise<void> | undefined {
  let left = 0;
  return (entry) => {
    const pause = left > 0 ? undefined : rest();
    if (left <= 0) left = looksMax;
    left -= entry.isParsed ? 1 : parsingLooks;
    return pause;
  };
}
