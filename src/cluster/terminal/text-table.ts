// Tables as kubectl prints them: upper-case headers, columns padded, three spaces between.
import { visibleInLine } from '#utils';

/** What is in a cell stays in it, whatever its characters. */
export function textTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headers, ...rows].map((row) => row.map(visibleInLine));
  const widths = headers.map((_, column) => cells.reduce((width, row) => Math.max(width, (row[column] ?? '').length), 0));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 3))
      .join('')
      .trimEnd();
  return cells.map(line).join('\n');
}
