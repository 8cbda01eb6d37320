// What a version of etcd can be relied upon for (k8s.io/apiserver/pkg/storage/feature, RequestWatchProgress).

const pattern = /^v?(\d+)\.(\d+)\.(\d+)/;

/**
 * Whether progress answers of a watch never overtake its events: etcd issue 15220 was mended in 3.4.25 and 3.5.8, issue 17507 in 3.4.31 and
 * 3.5.13. False for a text that is no version.
 */
export function hasExactProgress(version: string): boolean {
  const [, major, minor, patch] = (pattern.exec(version) ?? []).map(Number);
  if (major === undefined || minor === undefined || patch === undefined) return false;
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  return minor === 5 ? patch >= 13 : minor > 5;
}
