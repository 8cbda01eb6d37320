// How the seats of the server are shared among levels: by their shares, and from time to time by what they ask for, within what each lends and
// may borrow (KEP-1040, "Dispatching and borrowing"). Pure.

export interface LevelShares {
  name: string;
  exempt: boolean;
  shares: number;
  lendablePercent: number;
  /** Undefined: as much as there is. */
  borrowingLimitPercent?: number | undefined;
}

export interface Bounds {
  nominal: number;
  min: number;
  max: number;
}

/** Of each level, by name. `total`: seats of the server. */
export function nominalBounds(levels: readonly LevelShares[], total: number): Map<string, Bounds> {
  const sum = levels.reduce((all, { shares }) => all + shares, 0);
  return new Map(
    levels.map(({ name, shares, lendablePercent, borrowingLimitPercent }) => {
      const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum);
      const lendable = Math.round((nominal * lendablePercent) / 100);
      const borrowing = borrowingLimitPercent === undefined ? total : Math.round((nominal * borrowingLimitPercent) / 100);
      return [name, { nominal, min: nominal - lendable, max: nominal + borrowing }];
    }),
  );
}

export interface Asking extends Bounds {
  exempt: boolean;
  highWatermark: number;
  smoothed: number;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));

/** The factor by which every target is multiplied, within its bounds, so that they sum up to `total`. */
function fairFactor(items: readonly { target: number; low: number; high: number }[], total: number): number {
  const sumAt = (factor: number): number =>
    items.reduce((sum, { target, low, high }) => sum + clamp(target * factor, low, high), 0);
  let [low, high] = [0, 1];
  while (sumAt(high) < total && high < 1e9) high *= 2;
  for (let round = 0; round < 100; round++) {
    const middle = (low + high) / 2;
    if (sumAt(middle) < total) low = middle;
    else high = middle;
  }
  return high;
}

const targetMin = 0.001;

export interface Allocation {
  limits: Map<string, number>;
  /** 0 where there is nothing to share. */
  fairFraction: number;
}

/** What every level may use now. Exempt ones come first; the others share what is left. */
export function borrow(levels: ReadonlyMap<string, Asking>): Allocation {
  const limits = new Map<string, number>();
  let left = 0;
  const others: { name: string; min: number; low: number; high: number; target: number }[] = [];
  for (const [name, { nominal, min, max, exempt, highWatermark, smoothed }] of levels) {
    left += nominal;
    if (exempt) {
      const taken = Math.max(min, highWatermark);
      limits.set(name, taken);
      left -= taken;
      continue;
    }
    const low = Math.max(min, Math.min(nominal, highWatermark));
    others.push({ name, min, low, high: max, target: Math.max(low, smoothed, targetMin) });
  }
  const total = [...levels.values()].reduce((sum, { nominal }) => sum + nominal, 0);
  const minSum = others.reduce((sum, { min }) => sum + min, 0);
  const lowSum = others.reduce((sum, { low }) => sum + low, 0);
  if (left <= lowSum) {
    const share = left <= minSum ? 0 : (left - minSum) / (lowSum - minSum);
    for (const { name, min, low } of others) limits.set(name, min + Math.round((low - min) * share));
    return { limits, fairFraction: 0 };
  }
  const factor = fairFactor(others, total);
  for (const { name, target, low, high } of others) limits.set(name, Math.round(clamp(target * factor, low, high)));
  return { limits, fairFraction: factor };
}
