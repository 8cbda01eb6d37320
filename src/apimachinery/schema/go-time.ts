// Reads times as Go's time.Parse does for the two layouts of the API: RFC 3339 (metav1.Time) and RFC 3339 with six fraction digits
// (metav1.MicroTime). Messages are Go's, since clients see them.

export type TimeLayout = 'time' | 'microTime';

const layouts: Record<TimeLayout, string> = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' };

/** As package time quotes: whatever is not printable ASCII by its bytes. */
function quote(text: string): string {
  const escaped = text
    .replace(/["\\]/g, (char) => `\\${char}`)
    .replace(/[^ -\u007f]+/g, (part) =>
      [...new TextEncoder().encode(part)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `"${escaped}"`;
}

/** A text that is no time of the layout. */
export class TimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimeError';
  }
}

export interface GoTime {
  /** Since the epoch, UTC. */
  seconds: number;
  nanos: number;
}

interface Element {
  layout: string;
  pattern: RegExp;
  /** Smallest and largest value, and the name that a range error gives. */
  range?: [number, number, string];
}

const dateElements: Element[] = [
  { layout: '2006', pattern: /^\d{4}/ },
  { layout: '-', pattern: /^-/ },
  { layout: '01', pattern: /^\d\d/, range: [1, 12, 'month'] },
  { layout: '-', pattern: /^-/ },
  { layout: '02', pattern: /^\d\d/ },
  { layout: 'T', pattern: /^T/ },
  { layout: '15', pattern: /^\d\d?/, range: [0, 23, 'hour'] },
  { layout: ':', pattern: /^:/ },
  { layout: '04', pattern: /^\d\d/, range: [0, 59, 'minute'] },
  { layout: ':', pattern: /^:/ },
  { layout: '05', pattern: /^\d\d/, range: [0, 59, 'second'] },
];

const canonical = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?Z$/;

const leap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const daysIn = (year: number, month: number): number =>
  month === 2 ? (leap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

function unixSeconds(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime() / 1000;
}

/** Whether the text is what the encoder itself would write, so that it need not be taken apart. */
export function isCanonicalTime(text: string, layout: TimeLayout): boolean {
  const match = canonical.exec(text);
  if (match === null || (match[7] !== undefined) !== (layout === 'microTime')) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60;
}

/** The time a text means. Throws `TimeError` with Go's message. */
export function parseGoTime(text: string, layout: TimeLayout): GoTime {
  const head = `parsing time ${quote(text)}`;
  const cannot = (rest: string, element: string): TimeError =>
    new TimeError(`${head} as ${quote(layouts[layout])}: cannot parse ${quote(rest)} as ${quote(element)}`);
  let rest = text;
  const values: number[] = [];
  for (const { layout: element, pattern, range } of dateElements) {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) throw cannot(rest, element);
    rest = rest.slice(found.length);
    if (element.length > 1) values.push(Number(found));
    if (range !== undefined && (Number(found) < range[0] || Number(found) > range[1]))
      throw new TimeError(`${head}: ${range[2]} out of range`);
  }
  const fraction = layout === 'microTime' ? /^[.,]\d{6}/.exec(rest)?.[0] : (/^[.,]\d+/.exec(rest)?.[0] ?? '');
  if (fraction === undefined) throw cannot(rest, '.000000');
  rest = rest.slice(fraction.length);
  const zone = /^(Z|[+-]\d\d:\d\d)/.exec(rest)?.[0];
  if (zone === undefined) throw cannot(rest, 'Z07:00');
  const offset = zoneSeconds(zone);
  if (offset === undefined)
    throw new TimeError(`${head}: time zone offset ${Number(zone.slice(1, 3)) > 24 ? 'hour' : 'minute'} out of range`);
  if (rest.length > zone.length) throw new TimeError(`${head}: extra text: ${quote(rest.slice(zone.length))}`);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = values;
  if (day < 1 || day > daysIn(year, month)) throw new TimeError(`${head}: day out of range`);
  return {
    seconds: unixSeconds(year, month, day, hour, minute, second) - offset,
    nanos: Number(fraction.slice(1, 10).padEnd(9, '0')),
  };
}

function zoneSeconds(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24 || minutes > 60) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Go's zero time, which the encoder writes as null. */
const zeroSeconds = -62135596800;
const lastSeconds = 253402300799;

/** The text the encoder writes, or null for the zero time. */
export function formatGoTime({ seconds, nanos }: GoTime, layout: TimeLayout): string | null {
  if (seconds === zeroSeconds && nanos === 0) return null;
  const inside = Math.max(zeroSeconds - 31536000, Math.min(seconds, lastSeconds));
  const text = new Date(inside * 1000).toISOString().slice(0, 19);
  return layout === 'time' ? `${text}Z` : `${text}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}
