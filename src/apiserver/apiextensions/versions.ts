// The order of API versions by their names.

/**
 * Compares two versions so that the newest is first, and stable comes before beta before alpha (k8s.io/apimachinery/pkg/version,
 * CompareKubeAwareVersionStrings).
 */
export function compareVersions(left: string, right: string): number {
  const parse = (text: string): [number, number, number] | undefined => {
    const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(text);
    return parts
      ? [parts[2] === undefined ? 2 : parts[2] === 'beta' ? 1 : 0, Number(parts[1]), Number(parts[3] ?? 0)]
      : undefined;
  };
  const [a, b] = [parse(left), parse(right)];
  if (!a || !b) return a ? -1 : b ? 1 : left < right ? -1 : 1;
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
}
