// What is at the levels now, as the debug endpoints print it (k8s.io/apiserver/pkg/util/flowcontrol, apf_controller_debug.go). Pure.
import type { RequestData } from '../../request/request.ts';
import { formatDurationMs } from '#apimachinery/duration';
import type { Level, Levels } from './levels.ts';
import type { Ticket } from './queue-set.ts';

const paddingMin = 8;

/** Columns end in a comma, and are as wide as the widest of their cells. */
function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? paddingMin, cell.length + 2);
    });
  return rows
    .map((row) => `${row.map((cell, at) => (at === row.length - 1 ? cell : `${cell},`.padEnd(widths[at] ?? 0))).join('')}\n`)
    .join('');
}

const sorted = (levels: Levels): Level[] => [...levels.all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));

export function dumpLevels(levels: Levels): string {
  const head = [
    ...['PriorityLevelName', 'ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests'],
    ...['DispatchedRequests', 'RejectedRequests', 'TimedoutRequests', 'CancelledRequests'],
  ];
  const rows = sorted(levels).map(({ name, queues, quiescing }) => {
    const active = queues.dump().queues.filter(({ waiting }) => waiting.length > 0).length;
    const { dispatched, rejected, timedOut, cancelled } = queues.counts;
    const numbers = [queues.waiting, queues.executing, dispatched, rejected, timedOut, cancelled];
    return [name, String(active), String(queues.idle), String(quiescing), ...numbers.map(String)];
  });
  return table([head, ...rows]);
}

const seatSeconds = (ms: number): string => `${(ms / 1000).toFixed(8)}ss`;

export function dumpQueues(levels: Levels): string {
  const head = [
    ...['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR'],
    ...['InitialSeatsSum', 'MaxSeatsSum', 'TotalWorkSum'],
  ];
  const rows = sorted(levels).flatMap(({ name, queues }) =>
    queues.dump().queues.map(({ waiting, executing, seats, paidUntil }, index) => {
      const sum = (of: (ticket: Ticket) => number): number => waiting.reduce((all, ticket) => all + of(ticket), 0);
      const numbers = [index, waiting.length, executing.length, seats];
      const sums = [sum(({ work }) => work.seats), sum(({ width }) => width)];
      return [
        name,
        ...numbers.map(String),
        seatSeconds(paidUntil),
        ...sums.map(String),
        seatSeconds(sum(({ width }) => width * 3)),
      ];
    }),
  );
  return table([head, ...rows]);
}

const time = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/(\.\d*?)0+Z$/, '$1Z')
    .replace('.Z', 'Z');

/** `startMs`: the wall clock when the clock of the tickets was 0. */
export function dumpRequests(levels: Levels, details: boolean, startMs: number): string {
  const head = [
    ...['PriorityLevelName', 'FlowSchemaName', 'QueueIndex', 'RequestIndexInQueue', 'FlowDistingsher', 'ArriveTime'],
    ...['InitialSeats', 'FinalSeats', 'AdditionalLatency', 'StartTime'],
    ...(details ? ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource'] : []),
  ];
  const row = (level: string, queue: number, index: number, ticket: Ticket): string[] => {
    const { schema, flow, work, arrivedMs, startedMs } = ticket;
    const started = ticket.state === 'executing' ? time(startMs + startedMs) : '0001-01-01T00:00:00Z';
    return [
      ...[level, schema, String(queue), String(index), flow.slice(schema.length + 1), time(startMs + arrivedMs)],
      ...[String(work.seats), String(work.finalSeats), formatDurationMs(work.finalMs), started],
      ...(details ? detailsOf(ticket.about as RequestData) : []),
    ];
  };
  const rows = sorted(levels).flatMap(({ name, queues }) => {
    const { queues: list, loose } = queues.dump();
    return [
      ...list.flatMap(({ waiting, executing }, at) => [
        ...waiting.map((ticket, index) => row(name, at, index, ticket)),
        ...executing.map((ticket) => row(name, at, -1, ticket)),
      ]),
      ...loose.map((ticket) => row(name, -1, -1, ticket)),
    ];
  });
  return table([head, ...rows]);
}

function detailsOf({ user, verb, path, target }: RequestData): string[] {
  const { group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = target ?? {};
  return [user.name, verb, path, namespace, name, group === '' ? version : `${group}/${version}`, resource, subresource];
}
