// Limits of custom resources.
export const limits = {
  /** Values that the paths of all columns may visit for one row; beyond it cells are empty. */
  visitsPerRowMax: 10_000,
};
