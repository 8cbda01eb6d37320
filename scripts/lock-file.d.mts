export interface LockEntry {
  link?: boolean;
  integrity?: string;
  optionalDependencies?: Record<string, string>;
}
export function unverified(lock: { packages: Record<string, LockEntry> }): string[];
