// A probe's port: a number, or the name of one of the container's ports (upstream pkg/probe ResolveContainerPort).
import type { Container } from '#api/core/v1';

/** Throws for a name that is not there, and for numbers that are no ports. */
export function probePort(port: number | string, container: Container): number {
  const number =
    typeof port === 'number' ? port : (container.ports?.find(({ name }) => name === port)?.containerPort ?? Number(port));
  if (!Number.isInteger(number) && typeof port === 'string') throw new Error(`couldn't find port by name: ${port}`);
  if (number < 1 || number > 65_535) throw new Error(`invalid port number: ${number}`);
  return number;
}
