// The provider of cloud.mjs: one file without imports, as a user would mount it into the pod of the manager.
import { hostname } from 'node:os';

/** One process, whatever its number in its container. */
const me = `${hostname()}/${Date.now()}`;

const finalName = (service) => `a${service.metadata.uid.replaceAll('-', '')}`.slice(0, 32);

export default {
  name: 'shared',
  apiVersion: 'sagong.dev/cloud-provider/v1',
  configSchema: { type: 'object', required: ['url'], properties: { url: { type: 'string', minLength: 1 } } },
  create({ config }) {
    const call = async (name, body) => {
      const headers = { 'x-replica': me };
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${config.url}/${name}`, { headers, signal: AbortSignal.timeout(10_000), ...sent });
      if (!response.ok) throw new Error(`${name}: ${response.status}`);
      return response.json();
    };
    const instanceOf = async ({ metadata }) => (await call('state')).instances.find(({ name }) => name === metadata.name);
    const balancersOf = async (service) => (await call('state')).balancers.filter(({ name }) => name === finalName(service));
    const stateOf = ({ address }) => ({ ingress: [{ ip: address, ipMode: 'Proxy' }] });
    const backends = (nodes) => nodes.map(({ metadata }) => metadata.name).sort();
    return {
      hasClusterId: () => true,
      instancesV2: {
        instanceExists: async (node) => (await instanceOf(node)) !== undefined,
        instanceShutdown: async () => false,
        async instanceMetadata(node) {
          const instance = await instanceOf(node);
          if (!instance) throw new Error('instance not found');
          return {
            providerId: `shared://${instance.id}`,
            instanceType: 'shared.small',
            zone: 'z1',
            region: 'r1',
            nodeAddresses: [{ type: 'InternalIP', address: instance.address }],
          };
        },
      },
      loadBalancer: {
        getLoadBalancerName: (_cluster, service) => finalName(service),
        async getLoadBalancer(_cluster, service) {
          const [found] = await balancersOf(service);
          return found && stateOf(found);
        },
        async ensureLoadBalancer(_cluster, service, nodes) {
          const [found] = await balancersOf(service);
          const wanted = { name: finalName(service), backends: backends(nodes) };
          if (found) return stateOf(await call('updateBalancer', { id: found.id, ...wanted }));
          return stateOf(await call('createBalancer', wanted));
        },
        async updateLoadBalancer(_cluster, service, nodes) {
          for (const { id } of await balancersOf(service)) await call('updateBalancer', { id, backends: backends(nodes) });
        },
        async ensureLoadBalancerDeleted(_cluster, service) {
          for (const { id } of await balancersOf(service)) await call('deleteBalancer', { id });
        },
      },
      routes: {
        listRoutes: async () =>
          (await call('state')).routes.map(({ id, node, cidr }) => ({
            name: id,
            targetNode: node,
            targetNodeAddresses: [],
            destinationCidr: cidr,
          })),
        createRoute: async (_cluster, _hint, { targetNode, destinationCidr }) =>
          call('createRoute', { node: targetNode, cidr: destinationCidr }),
        deleteRoute: async (_cluster, { name }) => call('deleteRoute', { id: name }),
      },
    };
  },
};
