// Limits of authorization.
export const limits = {
  /** Users (name and groups) whose grants are kept. */
  cachedUsersMax: 10_000,
  /** Namespaces for which one user's grants are kept. */
  cachedNamespacesMax: 10_000,
};
/** Single permissions of rules that are compared one by one before somebody may grant them, and comparisons without a pause. */
export const grantsMax = 20_000;
export const looksPerStep = 2_000;
/** The most match conditions that one webhook may have. */
export const matchConditionsMax = 64;
/** Answers of a webhook that are remembered, and how long what was asked may be for that. */
export const reviewsMax = 8192;
export const reviewCacheAttributesMax = 10_000;
