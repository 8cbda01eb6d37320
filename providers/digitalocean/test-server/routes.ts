// Paths and methods of the API, and what answers them.
import type { Account } from './account.ts';
import { createFirewall, deleteFirewall, firewallOf, updateFirewall } from './firewalls.ts';
import { createLoadBalancer, deleteLoadBalancer, loadBalancerOf, loadBalancers, updateLoadBalancer } from './load-balancers.ts';
import { pageOf } from './paging.ts';
import { notFound, Refusal } from './refusal.ts';
import { createTag, shownTag, tagResources } from './tags.ts';
import type { Body } from './validate-load-balancer.ts';

export interface ApiRequest {
  account: Account;
  url: URL;
  /** The part of the path where the pattern says `:id`. */
  id: string;
  body: Body;
}
export interface ApiAnswer {
  status: number;
  body?: unknown;
}
type Handler = (request: ApiRequest) => ApiAnswer;

const ok = (body: unknown, status = 200): ApiAnswer => ({ status, body });
const noContent: ApiAnswer = { status: 204 };

function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

/** By pattern, then by method. */
const routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
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
  '/v2/droplets/:id': {
    GET: ({ account, id }) => ok({ droplet: found(account.droplets.get(Number(id))) }),
    DELETE({ account, id }) {
      if (!account.droplets.delete(Number(id))) throw notFound();
      for (const balancer of account.loadBalancers.values())
        balancer.droplet_ids = balancer.droplet_ids.filter((droplet) => droplet !== Number(id));
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
  '/v2/certificates/:id': { GET: ({ account, id }) => ok({ certificate: found(account.certificates.get(id)) }) },
  '/v2/load_balancers': {
    GET: ({ account, url }) => ok(pageOf('load_balancers', loadBalancers(account), url)),
    POST: ({ account, body }) => ok({ load_balancer: createLoadBalancer(account, body) }, 202),
  },
  '/v2/load_balancers/:id': {
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
  '/v2/tags/:id': { GET: ({ account, id }) => ok({ tag: shownTag(account, id) }) },
  '/v2/tags/:id/resources': {
    POST({ account, id, body }) {
      tagResources(account, id, body);
      return noContent;
    },
  },
  '/v2/firewalls': {
    GET: ({ account, url }) => ok(pageOf('firewalls', [...account.firewalls.values()], url)),
    POST: ({ account, body }) => ok({ firewall: createFirewall(account, body) }, 202),
  },
  '/v2/firewalls/:id': {
    GET: ({ account, id }) => ok({ firewall: firewallOf(account, id) }),
    PUT: ({ account, id, body }) => ok({ firewall: updateFirewall(account, id, body) }),
    DELETE({ account, id }) {
      deleteFirewall(account, id);
      return noContent;
    },
  },
};

/** Escapes that are not well-formed stay as they are. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function match(pattern: string, path: string): { id: string } | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return undefined;
  let id = '';
  for (const [index, part] of wanted.entries()) {
    if (part === ':id') id = decoded(given[index] ?? '');
    else if (part !== given[index]) return undefined;
  }
  return { id };
}

/** Answers a request. Throws `Refusal`. */
export function answer(method: string, request: Omit<ApiRequest, 'id'>): ApiAnswer {
  for (const [pattern, methods] of Object.entries(routes)) {
    const matched = match(pattern, request.url.pathname);
    if (!matched) continue;
    const handler = methods[method];
    if (!handler) throw new Refusal(405, 'Method not allowed.');
    return handler({ ...request, ...matched });
  }
  throw notFound();
}
