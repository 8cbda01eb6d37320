// How a command ends that cannot do what was asked: one line that says why, and a stack only on request.
export function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`sagong: ${message}\n`);
  if (process.env['SAGONG_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
