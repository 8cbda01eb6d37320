// Google's Compute Engine API before the local cloud (`sagong up --cloud-provider-emulator gcp`): instances, forwarding rules with what is behind them, firewalls,
// addresses and routes of one project, from the vendor's reference (https://cloud.google.com/compute/docs/reference/rest/v1). What is kept here is what the
// vendor knows beyond the local cloud. Operations are done before the request that begins them is answered.
import {
  answeringApi,
  type EmulatedMachine,
  freeAddress,
  privateAddress,
  savedAccount,
  savedText,
  type VendorEmulation,
  type VendorEmulationContext,
  type VendorEmulatorDefinition,
} from 'sagong/cloud-provider/emulator';
import { noRates } from 'sagong/cloud-provider/test-server';
import { createGate, keyFile, newKey, project } from './key.ts';
import { kinds } from './kinds.ts';
import { balancersOf, type MachineOf, routesOf } from './local-cloud.ts';
import { Projects } from './project.ts';
import { refusalBody } from './refusals.ts';
import { linkOf, pathIn, type Resource } from './resource.ts';
import { computeRoutes } from './routes.ts';

const network = 'cluster';
const nodeTag = 'nodes';

/** `local-1-a`: a zone of Google's is its region, a dash, a letter. */
const zoneOf = (zone: string): string => zone.replace(/(\d)([a-z])$/, '$1-$2');
const zonesOf = (zones: readonly string[]): string[] => zones.map(zoneOf);

const keptKinds = new Set(Object.values(kinds).map(({ kind }) => `compute#${kind}`));

interface Saved {
  count: number;
  resources: Resource[];
}

function restore(projects: Projects, text: string): void {
  const { count, resources } = savedAccount<Saved>('Google Cloud', text);
  projects.count = count;
  for (const resource of resources) projects.resources.set(pathIn(resource.selfLink, ''), resource);
}

const instancePath = ({ zone, name }: EmulatedMachine): string => `projects/${project}/zones/${zoneOf(zone)}/instances/${name}`;

function setInstance(projects: Projects, subnetwork: string, machine: EmulatedMachine): void {
  const path = instancePath(machine);
  const { privateAddress: networkIP, publicAddress: natIP, state, type } = machine;
  projects.put(path, 'instance', {
    id: String(Number.parseInt(machine.id.replace(/^i-/, ''), 16)),
    creationTimestamp: machine.createdAt,
    machineType: linkOf(path.replace(/instances\/.*/, `machineTypes/${type}`)),
    status: ({ starting: 'STAGING', running: 'RUNNING', stopped: 'TERMINATED' } as const)[state],
    tags: { items: [nodeTag], fingerprint: machine.id },
    networkInterfaces: [
      {
        name: 'nic0',
        network: linkOf(`projects/${project}/global/networks/${network}`),
        subnetwork: linkOf(subnetwork),
        networkIP,
        accessConfigs: natIP === undefined ? [] : [{ type: 'ONE_TO_ONE_NAT', name: 'external-nat', natIP }],
      },
    ],
  });
}

/** What every project has: regions, zones, a network with a subnetwork. Gives the path of that. */
function addPlaces(projects: Projects, { region, zones, subnetCidrs: [ipCidrRange] }: VendorEmulationContext): string {
  projects.addProject(project, { [region]: zonesOf(zones) });
  const made = projects.put(`projects/${project}/global/networks/${network}`, 'network', { autoCreateSubnetworks: false });
  const subnetwork = `projects/${project}/regions/${region}/subnetworks/${network}`;
  projects.put(subnetwork, 'subnetwork', { network: made.selfLink, ipCidrRange });
  return subnetwork;
}

/** Addresses of load balancers: reserved ones, and those of rules. */
const addressesOf = (projects: Projects, type: 'EXTERNAL' | 'INTERNAL'): string[] => [
  ...new Set([
    ...projects.of('address').flatMap((one) => (one['addressType'] === type ? [String(one['address'])] : [])),
    ...projects.of('forwardingRule').flatMap((one) => (one['loadBalancingScheme'] === type ? [String(one['IPAddress'])] : [])),
  ]),
];

function open(context: VendorEmulationContext): VendorEmulation {
  const { saved, secret, subnetCidrs, now, rng } = context;
  const projects = new Projects(now, () => ({ rates: noRates, happens: () => false }), rng);
  const subnetwork = addPlaces(projects, context);
  if (saved !== undefined) restore(projects, saved);
  const checkAccess = createGate(secret, now);
  /** The machines by their paths. */
  let machines = new Map<string, EmulatedMachine>();
  let free: readonly string[] = [];
  projects.newAddress = (type) => {
    const taken = addressesOf(projects, type);
    return type === 'EXTERNAL' ? freeAddress(free, taken) : privateAddress(subnetCidrs[0] ?? '', taken, rng);
  };
  const machineOf: MachineOf = (link) => machines.get(pathIn(link, project))?.id;
  const api = answeringApi({
    routes: computeRoutes({ projects, sleep: () => Promise.resolve() }),
    enter: ({ headers }) => checkAccess(headers['authorization']),
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
  });
  return {
    ...api,
    setMachines(there) {
      machines = new Map(there.map((machine) => [instancePath(machine), machine]));
      for (const { name, selfLink } of projects.of('instance'))
        if (!machines.has(pathIn(selfLink, project))) projects.removeInstance(name);
      for (const machine of there) setInstance(projects, subnetwork, machine);
    },
    setBalancers() {},
    setFreeAddresses(addresses) {
      free = addresses;
    },
    addresses: () => addressesOf(projects, 'EXTERNAL'),
    balancers: () => balancersOf(projects, machineOf),
    routes: () => routesOf(projects, machineOf),
    save: () =>
      savedText({
        count: projects.count,
        resources: [...projects.resources.values()].filter(({ kind }) => keptKinds.has(kind)),
      } satisfies Saved),
  };
}

const definition: VendorEmulatorDefinition = {
  provider: 'gce',
  newSecret: newKey,
  publicAddresses: true,
  open,
  manager: ({ url, secret, zones, dir }) => ({
    env: { GOOGLE_APPLICATION_CREDENTIALS: `${dir}/key.json` },
    unset: [
      'GOOGLE_CLOUD_PROJECT',
      'GCLOUD_PROJECT',
      'GOOGLE_CLOUD_QUOTA_PROJECT',
      'GOOGLE_CLOUD_UNIVERSE_DOMAIN',
      'GCE_METADATA_HOST',
    ],
    files: { 'key.json': keyFile(secret, url) },
    config: `[global]
project-id = ${project}
network-name = ${network}
subnetwork-name = ${network}
local-zone = ${zonesOf(zones)[0]}
node-tags = ${nodeTag}
regional = true
api-endpoint = ${url}/compute/v1/
`,
    rights: {
      'cloud-provider': [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] },
        { apiGroups: [''], resources: ['services', 'services/status'], verbs: ['patch'] },
        { apiGroups: [''], resources: ['events'], verbs: ['create'] },
      ],
    },
  }),
};
export default definition;
