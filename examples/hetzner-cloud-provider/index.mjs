// A cloud provider for Hetzner Cloud (https://docs.hetzner.cloud), written by docs/write-a-cloud-provider.md alone: servers and load balancers. Each part
// says which step of the guide it is.
import { cloudProviderApiVersion, defaultLoadBalancerName, defineCloudProvider, instanceIdOf, instanceNotFound } from 'sagong/cloud-provider';
import { providerIdOf, withoutForeignNodes } from 'sagong/cloud-provider';
import { allPages, answerFailure, callMetrics, configPath, createCalls, differenceOf, during, fineIfAbsent, listIn } from 'sagong/cloud-provider/kit';
import { httpFailure, inTurn, nodePortOf, poll, secretFile, sendHttp, tokenBucket, undefinedIfAbsent } from 'sagong/cloud-provider/kit';

const vendor = 'hcloud';
const uidLabel = 'service-uid';

/** Step 1: what --cloud-config says. */
const configSchema = {
  type: 'object',
  required: ['tokenFile', 'location'],
  properties: {
    url: { type: 'string', pattern: '^https?://[^?#]+$', default: 'https://api.hetzner.cloud/v1' },
    tokenFile: { type: 'string', minLength: 1, description: 'An API token; read again when it is replaced.' },
    location: { type: 'string', minLength: 1, description: 'Where load balancers are made, as fsn1.' },
    loadBalancerType: { type: 'string', minLength: 1, default: 'lb11' },
    usePrivateNetwork: { type: 'boolean', default: false, description: 'Load balancers reach servers in their private network.' },
  },
};

/** Step 2: what the API's refusals mean. A thing that is locked by an action under way may be asked for again: nothing was done. */
const classify = (clock) => (error) => {
  const failure = answerFailure(error, clock.now()) ?? httpFailure(error);
  return failure.status === 423 ? { ...failure, kind: 'transient' } : failure;
};

/** Step 2: every call goes through the kit. Changes are named or under a unique name, so each may be sent twice. */
function openApi({ config, configDir, clock, rng, metrics }) {
  const path = configPath(config.tokenFile, configDir);
  const token = secretFile({ path, what: 'tokenFile', clock, parse: (text) => text });
  const calls = createCalls({
    clock,
    rng,
    classify: classify(clock),
    limiter: tokenBucket({ clock, perSecond: 1, burst: 3_600 }),
    observer: callMetrics({ metrics, vendor }),
  });
  return (signal) => {
    const send = async (method, path, body, end) => {
      const headers = { authorization: `Bearer ${await token()}` };
      const answer = await sendHttp({ method, url: `${config.url}/${path}`, headers, body, signal: end });
      return answer.text === '' ? {} : answer.json();
    };
    const options = signal ? { signal } : {};
    const get = (name, path) => calls.read(name, (end) => send('GET', path, undefined, end), options);
    /** An action goes on in the cloud; a change is done when its action is. */
    const acted = async (answer) => {
      if (!answer.action) return answer;
      const ask = async () => {
        const { action } = await get('actions.get', `actions/${answer.action.id}`);
        if (action.status === 'error') throw new Error(`${action.command}: ${action.error.message}`);
        return action.status === 'success' ? { done: true, value: answer } : { done: false, state: `${action.progress} %` };
      };
      return poll({ what: `action ${answer.action.id}`, clock, ask, ...options });
    };
    return {
      get,
      list: (name, path, field) =>
        allPages(async (page = 1) => {
          const answer = await get(name, `${path}${path.includes('?') ? '&' : '?'}per_page=50&page=${page}`);
          return { items: listIn(answer, field), next: answer.meta.pagination.next_page };
        }),
      post: async (name, path, body) =>
        acted(await calls.write(name, (end) => send('POST', path, body, end), { idempotent: true, ...options })),
      remove: (name, path) =>
        calls.write(name, (end) => send('DELETE', path, undefined, end), { idempotent: true, ...options }).catch(fineIfAbsent),
    };
  };
}

/** Step 3: the server of a Node, by its provider ID, else by its name, which is unique in a project. */
async function serverOf(api, { metadata, spec }) {
  if (!spec?.providerID) return (await api.list('servers.list', `servers?name=${encodeURIComponent(metadata.name)}`, 'servers'))[0];
  const id = instanceIdOf(vendor, spec.providerID);
  if (!/^\d+$/.test(id ?? '')) throw new Error(`not a server of this cloud: ${spec.providerID}`);
  return (await api.get('servers.get', `servers/${id}`).catch(undefinedIfAbsent))?.server;
}

function instances(open) {
  const must = async (node, signal) => {
    const server = await serverOf(open(signal), node);
    if (!server) throw instanceNotFound();
    return server;
  };
  return {
    instanceExists: async (node, signal) => (await serverOf(open(signal), node)) !== undefined,
    instanceShutdown: async (node, signal) => (await must(node, signal)).status === 'off',
    async instanceMetadata(node, signal) {
      const { id, name, server_type: type, location, private_net: inner, public_net: outer } = await must(node, signal);
      const nodeAddresses = [
        { type: 'Hostname', address: name },
        ...inner.map(({ ip }) => ({ type: 'InternalIP', address: ip })),
        ...(outer.ipv4 ? [{ type: 'ExternalIP', address: outer.ipv4.ip }] : []),
      ];
      return { providerId: providerIdOf(vendor, String(id)), instanceType: type.name, region: location.name, nodeAddresses };
    },
  };
}

/** Step 4: found by a name that follows from the Service; made whole; brought in line piece by piece. */
function loadBalancers(open, config) {
  const turn = inTurn();
  const find = async (api, service) =>
    (await api.list('load_balancers.list', `load_balancers?name=${defaultLoadBalancerName(service)}`, 'load_balancers'))[0];
  const statusOf = ({ public_net: { ipv4 } }) => ({ ingress: [{ ip: ipv4.ip }] });
  const servicesOf = ({ spec }) =>
    (spec?.ports ?? []).map(({ protocol = 'TCP', port, nodePort }) => {
      if (protocol !== 'TCP') throw new Error(`port ${port}: load balancers of this cloud serve TCP only, not ${protocol}`);
      return { protocol: 'tcp', listen_port: port, destination_port: nodePortOf({ port, nodePort }), proxyprotocol: false };
    });
  const targetsOf = async (api, nodes) => {
    const servers = await Promise.all(withoutForeignNodes(vendor, nodes).map((node) => serverOf(api, node)));
    const use_private_ip = config.usePrivateNetwork;
    return servers.flatMap((server) => (server ? [{ type: 'server', server: { id: server.id }, use_private_ip }] : []));
  };
  async function targetsInLine(api, { id, targets }, wanted) {
    const key = ({ server }) => String(server.id);
    const { missing, surplus } = differenceOf(targets, wanted, key, key);
    const act = (what, body) => api.post(`load_balancers.${what}`, `load_balancers/${id}/actions/${what}`, body);
    for (const target of missing) await act('add_target', target);
    for (const { type, server } of surplus) await act('remove_target', { type, server });
  }
  async function portsInLine(api, { id, services }, wanted) {
    const key = (service) => String(service.listen_port);
    const { missing, surplus, both } = differenceOf(services, wanted, key, key);
    const act = (what, body) => api.post(`load_balancers.${what}`, `load_balancers/${id}/actions/${what}`, body);
    for (const { listen_port } of surplus) await act('delete_service', { listen_port });
    for (const service of missing) await act('add_service', service);
    for (const { found, wanted: service } of both)
      if (found.destination_port !== service.destination_port) await act('update_service', service);
  }
  async function ensure(api, service, nodes) {
    const name = defaultLoadBalancerName(service);
    const [services, targets] = [servicesOf(service), await targetsOf(api, nodes)];
    const labels = { [uidLabel]: service.metadata.uid };
    const request = { name, load_balancer_type: config.loadBalancerType, location: config.location, labels, services, targets };
    const there = await find(api, service);
    // A lost answer, or another manager: the name is taken by what was made, and the next call finds it.
    if (!there) return statusOf((await api.post('load_balancers.create', 'load_balancers', request)).load_balancer);
    if (there.labels[uidLabel] !== service.metadata.uid) throw new Error(`load balancer ${name} is not this cluster's`);
    await portsInLine(api, there, services);
    await targetsInLine(api, there, targets);
    return statusOf(there);
  }
  const within = (service, signal, work) =>
    turn(service.metadata.uid, () => work(open(signal)), signal).catch(during(`load balancer of ${service.metadata.name}`));
  return {
    async getLoadBalancer(_cluster, service, signal) {
      const found = await find(open(signal), service);
      return found && statusOf(found);
    },
    getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
    ensureLoadBalancer: (_cluster, service, nodes, signal) => within(service, signal, (api) => ensure(api, service, nodes)),
    updateLoadBalancer: (_cluster, service, nodes, signal) =>
      within(service, signal, async (api) => {
        const found = await find(api, service);
        if (found) await targetsInLine(api, found, await targetsOf(api, nodes));
      }),
    ensureLoadBalancerDeleted: (_cluster, service, signal) =>
      within(service, signal, async (api) => {
        const found = await find(api, service);
        if (found) await api.remove('load_balancers.delete', `load_balancers/${found.id}`);
      }),
  };
}

export default defineCloudProvider({
  name: vendor,
  apiVersion: cloudProviderApiVersion,
  configSchema,
  create(context) {
    const open = openApi(context);
    return {
      hasClusterId: () => true,
      instancesV2: instances(open),
      loadBalancer: loadBalancers(open, context.config),
    };
  },
});
