// A small server of Hetzner Cloud's API on loopback, for the test of the example: servers, load balancers, actions. Written from the vendor's public
// reference (https://docs.hetzner.cloud).
import { LaggingMap, Operations, pageByNumber, Refusal, startVendorServer } from 'sagong/cloud-provider/test-server';

const token = 'hcloud-test-token';
const notFound = (what) => new Refusal(404, 'not_found', `${what} not found`);

/** @param {{ clock: any, rng: any }} options */
export async function startTestServer({ clock, rng }) {
  let ids = 100;
  const seeing = () => new LaggingMap(() => clock.now(), () => server.faults.rates.lagMs);
  const [servers, balancers] = [seeing(), seeing()];
  const operations = new Operations({
    now: () => clock.now(),
    durationMs: () => server.faults.rates.operationMs,
    idOf: (number) => String(number),
  });
  const states = { pending: 'running', running: 'running', done: 'success', failed: 'error' };
  const shown = ({ id, kind, state, error }) => ({ id: Number(id), command: kind, status: states[state], progress: state === 'done' ? 100 : 50, error: error ?? null });
  const act = (kind, id, work = () => {}) => shown(operations.begin({ kind, target: String(id), work }));
  const page = (field, items, { url }) => {
    const number = Number(url.searchParams.get('page') ?? 1);
    const name = url.searchParams.get('name');
    const { items: shownItems, pages } = pageByNumber(name ? items.filter((one) => one.name === name) : items, number, 50);
    return { body: { [field]: shownItems, meta: { pagination: { page: number, next_page: number < pages ? number + 1 : null } } } };
  };
  const balancerOf = ({ params }) => {
    const found = balancers.get(params.id);
    if (!found) throw notFound('load balancer');
    if (operations.busyWith(params.id)) throw new Refusal(423, 'locked', 'load balancer is locked by an action');
    return found;
  };
  /** Checks and begins a change; what it changes is there when the action is done. */
  const change = (kind, check, apply) => (request) => {
    const before = balancerOf(request);
    check(before, request.body);
    const work = () => {
      const there = balancers.get(request.params.id);
      if (there) balancers.set(request.params.id, { ...there, ...apply(there, request.body) });
    };
    return { status: 201, body: { action: act(kind, before.id, work) } };
  };
  const refuse = (isWrong, status, code, message) => {
    if (isWrong) throw new Refusal(status, code, message);
  };
  const hasPort = ({ services }, { listen_port: port }) => services.some((one) => one.listen_port === port);
  const hasTarget = ({ targets }, { server: { id } }) => targets.some((one) => one.server.id === id);
  const actions = {
    add_service: change('add_service',
      (there, body) => refuse(hasPort(there, body), 409, 'source_port_already_used', 'the port is used'),
      ({ services }, body) => ({ services: [...services, body] })),
    update_service: change('update_service',
      (there, body) => refuse(!hasPort(there, body), 404, 'not_found', 'service not found'),
      ({ services }, body) => ({ services: services.map((one) => (one.listen_port === body.listen_port ? { ...one, ...body } : one)) })),
    delete_service: change('delete_service',
      (there, body) => refuse(!hasPort(there, body), 404, 'not_found', 'service not found'),
      ({ services }, body) => ({ services: services.filter((one) => one.listen_port !== body.listen_port) })),
    add_target: change('add_target',
      (there, body) => {
        refuse(!servers.has(String(body.server.id)), 404, 'not_found', 'server not found');
        refuse(hasTarget(there, body), 409, 'target_already_defined', 'the target is defined');
      },
      ({ targets }, body) => ({ targets: [...targets, body] })),
    remove_target: change('remove_target',
      (there, body) => refuse(!hasTarget(there, body), 404, 'not_found', 'target not found'),
      ({ targets }, body) => ({ targets: targets.filter((one) => one.server.id !== body.server.id) })),
  };
  const server = await startVendorServer({
    clock,
    rng,
    enter({ headers }) {
      refuse(headers.authorization !== `Bearer ${token}`, 401, 'unauthorized', 'unable to authenticate');
      operations.settle();
    },
    refusalAnswer: ({ code, message }) => ({ body: { error: { code, message } } }),
    routes: {
      'GET /v1/actions/{id}': ({ params }) => ({ body: { action: shown(operations.get(params.id)) } }),
      'GET /v1/servers': (request) => page('servers', [...servers.seenValues()], request),
      'GET /v1/servers/{id}': ({ params }) => {
        const found = servers.seen(params.id);
        if (!found) throw notFound('server');
        return { body: { server: found } };
      },
      'GET /v1/load_balancers': (request) => page('load_balancers', [...balancers.seenValues()], request),
      'POST /v1/load_balancers': ({ body }) => {
        refuse([...balancers.values()].some(({ name }) => name === body.name), 409, 'uniqueness_error', 'name is already used');
        const id = ++ids;
        const made = { ...body, id, public_net: { enabled: true, ipv4: { ip: `203.0.113.${id % 250}` } } };
        balancers.set(String(id), made);
        return { status: 201, body: { load_balancer: made, action: act('create_load_balancer', id) } };
      },
      'DELETE /v1/load_balancers/{id}': (request) => {
        balancerOf(request);
        balancers.delete(request.params.id);
        return {};
      },
      ...Object.fromEntries(Object.entries(actions).map(([name, handler]) => [`POST /v1/load_balancers/{id}/actions/${name}`, handler])),
    },
  });
  const named = (name) => [...servers.values()].find((one) => one.name === name);
  return {
    ...server,
    token,
    balancers,
    servers,
    addServer(name) {
      const id = ++ids;
      const address = (network) => `${network}.${(id >> 8) & 255}.${id & 255}`;
      servers.set(String(id), {
        id,
        name,
        status: 'running',
        server_type: { name: 'cx22' },
        location: { name: 'fsn1' },
        private_net: [{ network: 1, ip: address('10.0') }],
        public_net: { ipv4: { ip: address('198.51') } },
      });
    },
    stopServer: (name) => servers.set(String(named(name).id), { ...named(name), status: 'off' }),
    deleteServer(name) {
      const { id } = named(name);
      servers.delete(String(id));
      for (const one of balancers.values())
        balancers.set(String(one.id), { ...one, targets: one.targets.filter(({ server: { id: target } }) => target !== id) });
    },
  };
}
