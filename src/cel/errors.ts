// How expressions fail.

/** Why an expression has no value; passed on unless `&&`, `||` or a macro absorbs it. */
export class CelError extends Error {}

/** The expression ran longer than it may. */
export class CostError extends CelError {
  constructor(message = 'operation cancelled: actual cost limit exceeded') {
    super(message);
  }
}
