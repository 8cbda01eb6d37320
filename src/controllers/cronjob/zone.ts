// Wall-clock time in a time zone, as far as schedules need it.

export interface WallTime {
  year: number;
  /** 1 to 12. */
  month: number;
  day: number;
  hour: number;
  minute: number;
  /** 0 is Sunday. */
  weekday: number;
}

/** Milliseconds that the zone's clocks are ahead of UTC at an instant. */
export type Zone = (atMs: number) => number;

const utc: Zone = () => 0;

/** `name` undefined or '': UTC. Throws a RangeError for a zone that is not known. */
export function zoneOf(name: string | undefined): Zone {
  if (!name || name === 'UTC') return utc;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (atMs) => {
    const wholeMs = Math.floor(atMs / 1000) * 1000;
    const parts = Object.fromEntries(format.formatToParts(wholeMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
  };
}

export function wallTime(atMs: number, zone: Zone): WallTime {
  const local = new Date(atMs + zone(atMs));
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    weekday: local.getUTCDay(),
  };
}

/** The instant of a local midnight (or the first one of a day that starts later). `month` and `day` may overflow. */
export function midnight(year: number, month: number, day: number, zone: Zone): number {
  const local = Date.UTC(year, month - 1, day);
  const guess = local - zone(local);
  const exact = local - zone(guess);
  return wallTime(exact, zone).hour === 23 ? exact + 3_600_000 : exact;
}

/** A time in RFC 3339 with the offset of the zone. */
export function formatInZone(atMs: number, zone: Zone): string {
  const offset = zone(atMs);
  const text = new Date(atMs + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${text}Z`;
  const minutes = Math.abs(offset) / 60_000;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${text}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
