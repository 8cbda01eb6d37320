// An operation as the API shows it.
import type { Operation } from 'sagong/cloud-provider/test-server';
import { linkOf, placeIn } from './resource.ts';

const statuses = { pending: 'PENDING', running: 'RUNNING', done: 'DONE', failed: 'DONE' } as const;
const httpStatuses: Readonly<Record<string, number>> = { notFound: 404, alreadyExists: 409, conditionNotMet: 412 };

export function shownOperation({ id, kind, target, state, startedMs, endsMs, error }: Operation): object {
  const place = placeIn(target);
  const isOver = state === 'done' || state === 'failed';
  return {
    kind: 'compute#operation',
    id: String([...id].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1e15, 7)),
    name: id,
    operationType: kind,
    targetLink: linkOf(target),
    status: statuses[state],
    progress: isOver ? 100 : 0,
    insertTime: new Date(startedMs).toISOString(),
    ...(isOver && { endTime: new Date(endsMs).toISOString() }),
    selfLink: linkOf(`${place}/operations/${id}`),
    ...(place.includes('/regions/') && { region: linkOf(place) }),
    ...(place.includes('/zones/') && { zone: linkOf(place) }),
    ...(error && {
      error: { errors: [error] },
      httpErrorStatusCode: httpStatuses[error.code] ?? (error.code === 'INTERNAL_ERROR' ? 500 : 400),
      httpErrorMessage: error.message,
    }),
  };
}
