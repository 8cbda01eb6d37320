// Pure. Which version of CSI a driver speaks with this kubelet: the highest 1.x that it names (upstream's HighestSupportedVersion).

/** A version as its numbers, most significant first. */
export type Version = readonly number[];

/** Drivers of CSI 2 and later are not understood, those of CSI 0 no longer; undefined when no other version is named. */
export function highestSupportedVersion(texts: readonly string[]): Version | undefined {
  return texts
    .map(parse)
    .filter((version) => version?.[0] === 1)
    .reduce((one, other) => (one && (!other || !isLower(one, other)) ? one : other), undefined);
}

/** Whether one version is lower than another; numbers that are missing count as zero. */
export function isLower(one: Version, other: Version): boolean {
  for (let i = 0; i < Math.max(one.length, other.length); i++) {
    const [left, right] = [one[i] ?? 0, other[i] ?? 0];
    if (left !== right) return left < right;
  }
  return false;
}

/** Two numbers at least, after an optional "v"; what follows them is not read. */
function parse(text: string): Version | undefined {
  const numbers = /^\s*v?((?:0|[1-9]\d*)(?:\.\d+)+)/.exec(text)?.[1];
  return numbers?.split('.').map(Number);
}
