// Network load balancers (https://docs.oracle.com/iaas/api/#/en/networkloadbalancer/20200501/).
import type { Operation, Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { BackendSet, Listener, NewBalancer } from '../api/types.ts';
import type { Account, StoredBalancer } from './account.ts';
import { Balancers, checkGroups, workKind } from './balancers.ts';
import { bodyOf, listAnswer, matching, needed } from './lists.ts';
import { invalid, notFound } from './refusals.ts';

const v = '/20200501';
const base = `${v}/networkLoadBalancers`;

const shownOf =
  (account: Account) =>
  (one: StoredBalancer): object => {
    const { kind: _kind, creation: _creation, certificates: _none, ruleSets: _neither, subnetIds, ...rest } = one;
    const isBusy = one.lifecycleState === 'ACTIVE' && account.operations.busyWith(one.id) !== undefined;
    return {
      ...rest,
      subnetId: subnetIds[0],
      ...(isBusy && { lifecycleState: 'UPDATING' }),
      listeners: Object.fromEntries(Object.entries(one.listeners).map(([name, listener]) => [name, { name, ...listener }])),
      backendSets: Object.fromEntries(
        Object.entries(one.backendSets).map(([name, set]) => [
          name,
          {
            name,
            ...set,
            backends: (set.backends ?? []).map((backend) => ({
              ...backend,
              name: `${backend.targetId ?? backend.ipAddress}:${backend.port}`,
            })),
          },
        ]),
      ),
    };
  };

const states = { pending: 'ACCEPTED', running: 'IN_PROGRESS', done: 'SUCCEEDED', failed: 'FAILED' } as const;
const shownWork =
  (account: Account) =>
  ({ id, kind, target, state }: Operation): object => ({
    id,
    operationType: `${kind.split(' ')[1]}_NETWORK_LOAD_BALANCER`.toUpperCase(),
    status: states[state],
    compartmentId: account.get('balancer', target)?.compartmentId,
    resources: [{ entityType: 'networkloadbalancer', actionType: 'IN_PROGRESS', identifier: target }],
    percentComplete: state === 'done' ? 100 : 0,
    timeAccepted: account.time(),
  });

const begun = (workRequest: string, body?: object) => ({
  headers: { 'opc-work-request-id': workRequest },
  ...(body ? { status: 201, body } : { status: 202 }),
});

function partRoutes(balancers: Balancers): Routes {
  const routes: Record<string, Routes[string]> = {};
  const idOf = ({ params }: VendorRequest): string => params['id'] ?? '';
  const nameOf = ({ params }: VendorRequest): string => params['name'] ?? '';
  for (const part of ['listeners', 'backendSets'] as const) {
    routes[`POST ${base}/{id}/${part}`] = (request) => {
      const { name, ...details } = bodyOf(request);
      return begun(balancers.setPart(idOf(request), part, String(name), details as unknown as Listener & BackendSet, true));
    };
    routes[`PUT ${base}/{id}/${part}/{name}`] = (request) =>
      begun(balancers.setPart(idOf(request), part, nameOf(request), bodyOf<Listener & BackendSet>(request), false));
    routes[`DELETE ${base}/{id}/${part}/{name}`] = (request) => begun(balancers.deletePart(idOf(request), part, nameOf(request)));
  }
  return routes;
}

function workRoutes(account: Account): Routes {
  const isOurs = ({ kind }: Operation): boolean => kind.startsWith(workKind('nlb', ''));
  const workOf = ({ params }: VendorRequest): Operation => {
    const found = account.operations.get(params['id'] ?? '');
    if (!found || !isOurs(found)) throw notFound(`work request ${params['id']}`);
    return found;
  };
  const items = (all: object[]) => ({ items: all });
  return {
    [`GET ${v}/workRequests`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const inside = account.operations
        .all()
        .filter((one) => isOurs(one) && account.get('balancer', one.target)?.compartmentId === compartmentId);
      return listAnswer(inside.map(shownWork(account)), request, items);
    },
    [`GET ${v}/workRequests/{id}`]: (request) => ({ body: shownWork(account)(workOf(request)) }),
    [`GET ${v}/workRequests/{id}/errors`]: (request) => {
      const { error } = workOf(request);
      return listAnswer(error ? [{ code: error.code, message: error.message, timestamp: account.time() }] : [], request, items);
    },
  };
}

export function networkRoutes(account: Account): Routes {
  const balancers = new Balancers(account, 'nlb');
  const shown = shownOf(account);
  return {
    ...partRoutes(balancers),
    ...workRoutes(account),
    [`GET ${base}`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const all = balancers.seenAll().filter((one) => one.compartmentId === compartmentId);
      return listAnswer(matching(all, request, ['displayName', 'lifecycleState']).map(shown), request, (items) => ({ items }));
    },
    [`POST ${base}`]: (request) => {
      const body = bodyOf<NewBalancer & { subnetId?: string }>(request);
      const { compartmentId, displayName, subnetId, nlbIpVersion = 'IPV4', freeformTags, definedTags } = body;
      if (!compartmentId || !displayName || !subnetId) throw invalid('compartmentId, displayName and subnetId must be given');
      const given = {
        compartmentId,
        displayName,
        subnetIds: [subnetId],
        nlbIpVersion,
        isPrivate: body.isPrivate ?? false,
        networkSecurityGroupIds: body.networkSecurityGroupIds ?? [],
        listeners: body.listeners ?? {},
        backendSets: body.backendSets ?? {},
        certificates: {},
        ruleSets: {},
        ...(freeformTags && { freeformTags }),
        ...(definedTags && { definedTags }),
      };
      const workRequest = balancers.create(request, given, body.reservedIps ?? []);
      const id = account.operations.get(workRequest)?.target ?? '';
      return begun(workRequest, shown(account.must('balancer', id)));
    },
    [`GET ${base}/{id}`]: ({ params }) => ({ body: shown(balancers.seen(params['id'] ?? '')) }),
    [`PUT ${base}/{id}`]: (request) => {
      const { nlbIpVersion } = bodyOf(request) as { nlbIpVersion?: string };
      return begun(balancers.update(request.params['id'] ?? '', 'Update', nlbIpVersion ? { nlbIpVersion } : {}));
    },
    [`DELETE ${base}/{id}`]: ({ params }) => begun(balancers.delete(params['id'] ?? '')),
    [`PUT ${base}/{id}/networkSecurityGroups`]: (request) => {
      const ids = (bodyOf(request)['networkSecurityGroupIds'] ?? []) as string[];
      checkGroups(account, ids);
      return begun(balancers.update(request.params['id'] ?? '', 'UpdateNetworkSecurityGroups', { networkSecurityGroupIds: ids }));
    },
  };
}
