// Paths and methods of the API, and what answers them.
import type { Routes, VendorAnswer, VendorRequest } from 'sagong/cloud-provider/test-server';
import type { Account } from './account.ts';
import { createFirewall, deleteFirewall, firewallOf, updateFirewall } from './firewalls.ts';
import { createLoadBalancer, deleteLoadBalancer, loadBalancerOf, loadBalancers, updateLoadBalancer } from './load-balancers.ts';
import { pageOf } from './paging.ts';
import { notFound, Refusal } from './refusal.ts';
import { createTag, shownTag, tagResources } from './tags.ts';
import type { Body } from './validate-load-balancer.ts';

interface ApiRequest {
  account: Account;
  url: URL;
  /** The part of the path where the pattern says `{id}`. */
  id: string;
  body: Body;
}
type Handler = (request: ApiRequest) => VendorAnswer;

const ok = (body: unknown, status = 200): VendorAnswer => ({ status, body });
const noContent: VendorAnswer = { status: 204 };

function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

/** What answers a call, by path and then by method. */
const handlers: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '/v2/regions': { GET: ({ account, url }) => ok(pageOf('regions', account.regions, url)) },
  '/v2/droplets': {
    GET({ account, url }) {
      const name = url.searchParams.get('name');
      const tag = url.searchParams.get('tag_name');
      const wanted = [...account.droplets.values()].filter(
        (droplet) => (name === null || droplet.name === name) && (tag === null || droplet.tags.includes(tag)),
      );
      return ok(pageOf('droplets', wanted, url));
    },
  },
  '/v2/droplets/{id}': {
    GET: ({ account, id }) => ok({ droplet: found(account.droplets.get(Number(id))) }),
    DELETE({ account, id }) {
      if (!account.removeDroplet(Number(id))) throw notFound();
      return noContent;
    },
  },
  '/v2/certificates': {
    GET({ account, url }) {
      const name = url.searchParams.get('name');
      const wanted = [...account.certificates.values()].filter((certificate) => name === null || certificate.name === name);
      return ok(pageOf('certificates', wanted, url));
    },
  },
  '/v2/certificates/{id}': { GET: ({ account, id }) => ok({ certificate: found(account.certificates.get(id)) }) },
  '/v2/load_balancers': {
    GET: ({ account, url }) => ok(pageOf('load_balancers', loadBalancers(account), url)),
    POST: ({ account, body }) => ok({ load_balancer: createLoadBalancer(account, body) }, 202),
  },
  '/v2/load_balancers/{id}': {
    GET: ({ account, id }) => ok({ load_balancer: loadBalancerOf(account, id) }),
    PUT: ({ account, id, body }) => ok({ load_balancer: updateLoadBalancer(account, id, body) }),
    DELETE({ account, id }) {
      deleteLoadBalancer(account, id);
      return noContent;
    },
  },
  '/v2/tags': {
    GET: ({ account, url }) =>
      ok(
        pageOf(
          'tags',
          [...account.tags.keys()].map((name) => shownTag(account, name)),
          url,
        ),
      ),
    POST: ({ account, body }) => ok({ tag: createTag(account, body) }, 201),
  },
  '/v2/tags/{id}': { GET: ({ account, id }) => ok({ tag: shownTag(account, id) }) },
  '/v2/tags/{id}/resources': {
    POST({ account, id, body }) {
      tagResources(account, id, body);
      return noContent;
    },
  },
  '/v2/firewalls': {
    GET: ({ account, url }) => ok(pageOf('firewalls', [...account.firewalls.values()], url)),
    POST: ({ account, body }) => ok({ firewall: createFirewall(account, body) }, 202),
  },
  '/v2/firewalls/{id}': {
    GET: ({ account, id }) => ok({ firewall: firewallOf(account, id) }),
    PUT: ({ account, id, body }) => ok({ firewall: updateFirewall(account, id, body) }),
    DELETE({ account, id }) {
      deleteFirewall(account, id);
      return noContent;
    },
  },
};

/** The body of a request that has one. */
export function bodyOf({ method, headers, body }: Pick<VendorRequest, 'method' | 'headers' | 'body'>): Body {
  if (method === 'GET' || method === 'DELETE') return {};
  if (!headers['content-type']?.startsWith('application/json') || typeof body !== 'object' || body === null)
    throw new Refusal(400, 'error parsing request body');
  return body as Body;
}

/** Everything that the API answers, of one account. */
export const apiRoutes = (account: Account): Routes =>
  Object.fromEntries(
    Object.entries(handlers).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, handle]) => [
        `${method} ${path}`,
        (request: VendorRequest) => handle({ account, url: request.url, id: request.params['id'] ?? '', body: bodyOf(request) }),
      ]),
    ),
  );
