// What a lock file must hold so that an install is verified on every platform; used by complete-lock.mjs and the tidy test.

/**
 * Names of packages whose install could not be verified: entries without an integrity, and optional dependencies with an exact version (one for each
 * platform, as a rule) that have no entry.
 * @param {{ packages: Record<string, { link?: boolean, integrity?: string, optionalDependencies?: Record<string, string> }> }} lock
 * @returns {string[]}
 */
export function unverified({ packages }) {
  const missing = Object.entries(packages).flatMap(([name, { link, integrity }]) =>
    name.includes('node_modules/') && !link && !integrity ? [name] : [],
  );
  for (const [name, { optionalDependencies = {} }] of Object.entries(packages))
    for (const [dependency, version] of Object.entries(optionalDependencies)) {
      const key = `node_modules/${dependency}`;
      if (/^\d/.test(version) && !packages[key] && !packages[`${name}/${key}`]) missing.push(`${key} (wanted by ${name})`);
    }
  return missing;
}
