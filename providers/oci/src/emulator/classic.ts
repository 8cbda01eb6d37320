// Load balancers (https://docs.oracle.com/iaas/api/#/en/loadbalancer/20170115/).
import type { Operation, Routes, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { BackendSet, Certificate, Listener, NewBalancer, RuleSet, ShapeDetails } from '../api/types.ts';
import type { Account, StoredBalancer } from './account.ts';
import { Balancers, checkGroups, checkShape, type PartName, workKind } from './balancers.ts';
import { bodyOf, listAnswer, matching, needed } from './lists.ts';
import { invalid, notFound } from './refusals.ts';

const v = '/20170115';
const base = `${v}/loadBalancers`;

const named = <T extends object>(all: Record<string, T>): Record<string, T & { name: string }> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, { name, ...one }]));

const shown = ({ kind: _kind, creation: _creation, nlbIpVersion: _version, ...one }: StoredBalancer): object => ({
  ...one,
  listeners: named(one.listeners),
  backendSets: Object.fromEntries(
    Object.entries(named(one.backendSets)).map(([name, set]) => [
      name,
      {
        ...set,
        backends: set.backends.map((backend) => ({
          ...backend,
          name: `${backend.ipAddress}:${backend.port}`,
          backup: false,
          drain: false,
          offline: false,
        })),
      },
    ]),
  ),
  certificates: Object.fromEntries(
    Object.entries(one.certificates).map(([name, { certificateName, publicCertificate, caCertificate }]) => [
      name,
      { certificateName, publicCertificate, caCertificate },
    ]),
  ),
  ruleSets: named(one.ruleSets),
});

const states = { pending: 'ACCEPTED', running: 'IN_PROGRESS', done: 'SUCCEEDED', failed: 'FAILED' } as const;
const shownWork = ({ id, kind, target, state, error }: Operation): object => ({
  id,
  loadBalancerId: target,
  type: kind.split(' ')[1],
  lifecycleState: states[state],
  message: '',
  errorDetails: error ? [{ errorCode: 'BAD_INPUT', message: error.message }] : [],
});

const begun = (workRequest: string) => ({ headers: { 'opc-work-request-id': workRequest }, status: 204 });

const parts = { listeners: 'listener', backendSets: 'backendSet', ruleSets: 'ruleSet', certificates: 'certificate' } as const;

function partRoutes(balancers: Balancers): Routes {
  const routes: Record<string, Routes[string]> = {};
  type Details = Listener & BackendSet & Certificate & RuleSet;
  for (const part of Object.keys(parts) as PartName[]) {
    const idOf = ({ params }: VendorRequest): string => params['id'] ?? '';
    routes[`POST ${base}/{id}/${part}`] = (request) => {
      const { name, ...details } = bodyOf(request);
      const key = String(part === 'certificates' ? details['certificateName'] : name);
      return begun(balancers.setPart(idOf(request), part, key, details as unknown as Details, true));
    };
    routes[`DELETE ${base}/{id}/${part}/{name}`] = (request) =>
      begun(balancers.deletePart(idOf(request), part, request.params['name'] ?? ''));
    if (part !== 'certificates')
      routes[`PUT ${base}/{id}/${part}/{name}`] = (request) =>
        begun(balancers.setPart(idOf(request), part, request.params['name'] ?? '', bodyOf<Details>(request), false));
  }
  return routes;
}

export function classicRoutes(account: Account): Routes {
  const balancers = new Balancers(account, 'lb');
  const works = (id: string): Operation[] => account.operations.all().filter(({ target }) => target === id);
  return {
    ...partRoutes(balancers),
    [`GET ${base}`]: (request) => {
      const compartmentId = needed(request, 'compartmentId');
      const all = balancers.seenAll().filter((one) => one.compartmentId === compartmentId);
      return listAnswer(matching(all, request, ['displayName', 'lifecycleState']).map(shown), request);
    },
    [`POST ${base}`]: (request) => {
      const body = bodyOf<NewBalancer>(request);
      const { compartmentId, displayName, subnetIds = [], shapeName, shapeDetails, freeformTags, definedTags } = body;
      if (!compartmentId || !displayName || !shapeName) throw invalid('compartmentId, displayName and shapeName must be given');
      const given = {
        compartmentId,
        displayName,
        subnetIds,
        shapeName,
        isPrivate: body.isPrivate ?? false,
        networkSecurityGroupIds: body.networkSecurityGroupIds ?? [],
        listeners: body.listeners ?? {},
        backendSets: body.backendSets ?? {},
        certificates: body.certificates ?? {},
        ruleSets: body.ruleSets ?? {},
        ...(shapeDetails && { shapeDetails }),
        ...(freeformTags && { freeformTags }),
        ...(definedTags && { definedTags }),
      };
      return begun(balancers.create(request, given, body.reservedIps ?? []));
    },
    [`GET ${base}/{id}`]: ({ params }) => ({ body: shown(balancers.seen(params['id'] ?? '')) }),
    [`DELETE ${base}/{id}`]: ({ params }) => begun(balancers.delete(params['id'] ?? '')),
    [`PUT ${base}/{id}/networkSecurityGroups`]: (request) => {
      const ids = (bodyOf(request)['networkSecurityGroupIds'] ?? []) as string[];
      checkGroups(account, ids);
      return begun(balancers.update(request.params['id'] ?? '', 'UpdateNetworkSecurityGroups', { networkSecurityGroupIds: ids }));
    },
    [`PUT ${base}/{id}/updateShape`]: (request) => {
      const id = request.params['id'] ?? '';
      const { shapeName, shapeDetails } = bodyOf(request) as { shapeName: string; shapeDetails?: ShapeDetails };
      checkShape({ shapeName, ...(shapeDetails && { shapeDetails }) });
      if (balancers.idle(id).shapeName === 'flexible' && shapeName !== 'flexible')
        throw invalid('a flexible shape stays flexible');
      return begun(balancers.update(id, 'UpdateShape', { shapeName, ...(shapeDetails && { shapeDetails }) }));
    },
    [`GET ${base}/{id}/workRequests`]: (request) => {
      const { id } = balancers.seen(request.params['id'] ?? '');
      return listAnswer(works(id).map(shownWork).reverse(), request);
    },
    [`GET ${v}/loadBalancerWorkRequests/{id}`]: ({ params }) => {
      const found = account.operations.get(params['id'] ?? '');
      if (!found?.kind.startsWith(workKind('lb', ''))) throw notFound(`work request ${params['id']}`);
      return { body: shownWork(found) };
    },
  };
}
