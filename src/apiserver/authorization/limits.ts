// Limits of authorization.
export const limits = {
  /** Users (name and groups) whose grants are kept. */
  cachedUsersMax: 10_000,
  /** Namespaces for which one user's grants are kept. */
  cachedNamespacesMax: 10_000,
};
