// Tables as kubectl prints them: upper-case headers, columns padded, three spaces between.
export function textTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headers.map((header, column) => Math.max(header.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd((widths[column] ?? 0) + 3))
      .join('')
      .trimEnd();
  return [line(headers), ...rows.map(line)].join('\n');
}
