// Small pieces of the sentences of explanations. Pure.

const namesMax = 3;

/** The first names, and how many more there are. */
export function someNames(names: readonly string[], max = namesMax): string {
  const shown = names.slice(0, max).join(', ');
  return names.length > max ? `${shown} and ${names.length - max} more` : shown;
}

/** `5s`, `3m`, `2h`, `4d`: how long before `nowMs` that was. */
export function ageText(atMs: number, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** Writes `Reason: message`, of which either may be missing. */
export const reasonText = (reason: string | undefined, message: string | undefined): string =>
  [reason, message].filter((part) => part !== undefined && part !== '').join(': ') || 'without a reason';

export const countText = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
