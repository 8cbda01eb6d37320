// Failures of the items of a list.
import type { FieldError } from './error.ts';
import { fieldErrorsMax } from './limits.ts';

/** The failures that `check` finds, item by item; stops once there are more than an answer lists (`fieldErrorsMax`). */
export function gather<T>(items: Iterable<T>, check: (item: T, index: number) => readonly FieldError[]): FieldError[] {
  const errors: FieldError[] = [];
  let index = 0;
  for (const item of items) {
    if (errors.length > fieldErrorsMax) break;
    for (const error of check(item, index++)) errors.push(error);
  }
  return errors;
}
