// Listeners of load balancers (https://cloud.baidu.com/doc/BLB/s/yjwvxnvl6).
import type { Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import { type Account, bodyOf, type StoredListener } from './account.ts';
import { listAnswer } from './lists.ts';
import { exists, invalid, noSuch, quota } from './refusals.ts';

const kinds = ['TCP', 'UDP', 'HTTP', 'HTTPS', 'SSL'] as const;
const listenersMax = 50;
const schedulers = ['RoundRobin', 'LeastConnection', 'Hash'];
/** Bounds and defaults of settings. */
const numbers = {
  healthCheckTimeoutInSecond: [1, 60, 3],
  healthCheckInterval: [1, 10, 3],
  unhealthyThreshold: [2, 5, 3],
  healthyThreshold: [2, 5, 3],
} as const;

const isPort = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;

function checked(kind: string, body: Record<string, unknown>): Record<string, unknown> {
  if (!isPort(body['backendPort'])) throw invalid('backendPort');
  if (!schedulers.includes(String(body['scheduler']))) throw invalid('scheduler');
  if (kind === 'UDP' && typeof body['healthCheckString'] !== 'string') throw invalid('healthCheckString');
  const settings = Object.entries(numbers).map(([name, [min, max, usual]]) => {
    const value = Number(body[name] ?? usual);
    if (!Number.isInteger(value) || value < min || value > max) throw invalid(name);
    return [name, value];
  });
  return { ...body, ...Object.fromEntries(settings) };
}

export function listenerRoutes(account: Account): Routes {
  const of = (blbId: string): StoredListener[] => account.of('listener').filter((one) => one.blbId === blbId);
  const seenOf = (blbId: string): StoredListener[] => {
    account.seen('balancer', blbId);
    return account.seenOf('listener').filter((one) => one.blbId === blbId);
  };
  const keyOf = ({ kind, listenerPort }: StoredListener): string => `${String(listenerPort).padStart(5, '0')}${kind}`;
  const changing = (request: VendorRequest): string => {
    const { id = '' } = request.params;
    account.must('balancer', id);
    account.free('balancer', id);
    return id;
  };
  const shown = ({ id: _id, blbId: _blb, kind, ...listener }: StoredListener): object => ({ ...listener, listenerType: kind });
  const page = (items: readonly StoredListener[], request: VendorRequest) => {
    const answer = listAnswer('listenerList', items, keyOf, request);
    const body = answer.body as { listenerList: StoredListener[] };
    return { body: { ...body, listenerList: body.listenerList.map(shown) } };
  };
  const ofKind = (kind: string): Routes => ({
    [`GET /v1/blb/{id}/${kind}listener`]: (request) => {
      const port = request.url.searchParams.get('listenerPort');
      const all = seenOf(request.params['id'] ?? '').filter((one) => one.kind === kind);
      return page(port ? all.filter(({ listenerPort }) => String(listenerPort) === port) : all, request);
    },
    [`POST /v1/blb/{id}/${kind}listener`]: (request) => {
      const blbId = changing(request);
      const body = bodyOf(request);
      const { listenerPort } = body;
      if (!isPort(listenerPort)) throw invalid('listenerPort');
      // UDP has ports of its own; all others share theirs.
      const taken = of(blbId).some((one) => one.listenerPort === listenerPort && (one.kind === 'UDP') === (kind === 'UDP'));
      if (taken) throw exists(`listener ${listenerPort}`);
      if (of(blbId).length >= listenersMax) throw quota('listener');
      const settings = checked(kind, body) as unknown as StoredListener;
      account.put('listener', { ...settings, id: `${blbId} ${kind} ${listenerPort}`, blbId, kind });
      return { status: 200 };
    },
    [`PUT /v1/blb/{id}/${kind}listener`]: (request) => {
      const blbId = changing(request);
      const id = `${blbId} ${kind} ${request.url.searchParams.get('listenerPort')}`;
      const there = account.must('listener', id);
      account.put('listener', { ...there, ...(checked(kind, { ...there, ...bodyOf(request) }) as object) });
      return { status: 200 };
    },
  });
  return {
    ...Object.assign({}, ...kinds.map(ofKind)),
    'GET /v1/blb/{id}/listener': (request) => page(seenOf(request.params['id'] ?? ''), request),
    'PUT /v1/blb/{id}/listener?batchdelete=': (request) => {
      const blbId = changing(request);
      const { portList = [], portTypeList = [] } = bodyOf(request) as {
        portList?: number[];
        portTypeList?: { port: number; type: string }[];
      };
      const asked = (one: StoredListener): boolean =>
        portList.includes(one.listenerPort) ||
        portTypeList.some(({ port, type }) => port === one.listenerPort && type === one.kind);
      const found = of(blbId).filter(asked);
      if (found.length < portList.length + portTypeList.length) throw noSuch('listener', JSON.stringify(portTypeList));
      for (const { id } of found) account.delete('listener', id);
      return { status: 200 };
    },
  };
}
