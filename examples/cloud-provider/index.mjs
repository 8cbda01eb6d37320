// A cloud provider in a package of its own: a cloud on paper. Machines are lines of a file that is read again at every question; load balancers
// are kept in memory. docs/write-a-cloud-provider.md leads through it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Errors with a meaning carry a code; see `sagong/cloud-provider` for all of them. */
const instanceNotFound = () => Object.assign(new Error('instance not found'), { code: 'InstanceNotFound' });

/** @param {{ metadata: { uid?: string } }} service */
const nameOf = (service) => `a${service.metadata.uid ?? ''}`.replaceAll('-', '').slice(0, 32);

/** @type {import('sagong/cloud-provider').CloudProviderDefinition<{ region: string, inventory: string, addressPool: string }>} */
const provider = {
  name: 'paper',
  apiVersion: 'sagong.dev/cloud-provider/v1',
  configSchema: {
    type: 'object',
    required: ['region', 'inventory'],
    properties: {
      region: { type: 'string', minLength: 1 },
      inventory: { type: 'string', minLength: 1, description: 'File of machines, relative to the configuration.' },
      addressPool: { type: 'string', pattern: '^[0-9]+[.][0-9]+[.][0-9]+[.]$', default: '192.0.2.' },
    },
  },
  create({ config, configDir, logger }) {
    const balancers = new Map();
    let addresses = 0;

    const machineOf = async ({ metadata, spec }) => {
      const machines = JSON.parse(await readFile(join(configDir, config.inventory), 'utf8'));
      const id = spec?.providerID?.replace(/^paper:\/\//, '');
      if (id !== undefined) return Object.values(machines).find((machine) => machine.id === id);
      return Object.hasOwn(machines, metadata.name) ? machines[metadata.name] : undefined;
    };
    const statusOf = ({ address }) => ({ ingress: [{ ip: address, ipMode: 'VIP' }] });

    return {
      hasClusterId: () => true,
      instancesV2: {
        async instanceExists(node) {
          return (await machineOf(node)) !== undefined;
        },
        async instanceShutdown(node) {
          const machine = await machineOf(node);
          if (!machine) throw instanceNotFound();
          return machine.power === 'off';
        },
        async instanceMetadata(node) {
          const machine = await machineOf(node);
          if (!machine) throw instanceNotFound();
          return {
            providerId: `paper://${machine.id}`,
            instanceType: machine.type,
            zone: machine.zone,
            region: config.region,
            nodeAddresses: [{ type: 'InternalIP', address: machine.address }],
            additionalLabels: { 'paper.example.com/power': machine.power },
          };
        },
      },
      loadBalancer: {
        async getLoadBalancer(_cluster, service) {
          const found = balancers.get(nameOf(service));
          return found && statusOf(found);
        },
        getLoadBalancerName: (_cluster, service) => nameOf(service),
        async ensureLoadBalancer(_cluster, service, nodes) {
          const name = nameOf(service);
          const balancer = balancers.get(name) ?? { address: `${config.addressPool}${++addresses}` };
          balancer.backends = nodes.map(({ metadata }) => metadata.name);
          balancers.set(name, balancer);
          logger.info('load balancer', { name, backends: balancer.backends });
          return statusOf(balancer);
        },
        async updateLoadBalancer(cluster, service, nodes) {
          if (balancers.has(nameOf(service))) await this.ensureLoadBalancer(cluster, service, nodes);
        },
        async ensureLoadBalancerDeleted(_cluster, service) {
          balancers.delete(nameOf(service));
        },
      },
    };
  },
};

export default provider;
