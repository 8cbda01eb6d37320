// The room table of docs/architecture.md as data: which folder under src/ may import which, and which may touch Node.
// Read by the lint rule (scripts/lint/plugin.mjs) and by the tidy test (test/tidy). `pure` rooms may use no `node:*` module and no
// ambient time, randomness, timers, console or process.

/** @typedef {{ pure?: boolean, imports: string[] }} Room */

const pure = ['utils', 'regexp', 'apimachinery', 'cel', 'api', 'component-helpers'];

/** @type {Record<string, Room>} */
export const rooms = {
  utils: { pure: true, imports: [] },
  regexp: { pure: true, imports: [] },
  apimachinery: { pure: true, imports: ['utils'] },
  cel: { pure: true, imports: ['utils', 'regexp', 'apimachinery'] },
  api: { pure: true, imports: ['utils', 'regexp', 'apimachinery', 'cel'] },
  'component-helpers': { pure: true, imports: pure },
  host: { imports: ['utils'] },
  'component-base': { imports: ['utils', 'apimachinery', 'host', 'pki', 'wire'] },
  pki: { imports: ['utils', 'host'] },
  wire: { imports: ['utils', 'host', 'pki'] },
  store: { imports: ['utils', 'host', 'pki', 'wire', 'component-base'] },
  apiserver: { imports: [...pure, 'host', 'component-base', 'pki', 'wire', 'store'] },
  client: { imports: [...pure, 'host', 'component-base', 'pki', 'wire'] },
  'controller-runtime': { imports: [...pure, 'component-base', 'client'] },
  controllers: { imports: [...pure, 'pki', 'controller-runtime'] },
  'controller-manager': { imports: [...pure, 'host', 'component-base', 'pki', 'client', 'controller-runtime', 'controllers'] },
  scheduler: { imports: [...pure, 'component-base', 'client'] },
  cri: { imports: ['utils', 'host', 'wire'] },
  kubelet: { imports: [...pure, 'host', 'component-base', 'pki', 'wire', 'client', 'cri'] },
  'kube-proxy': { imports: [...pure, 'host', 'component-base', 'wire', 'client'] },
  'network-policy': { imports: [...pure, 'host', 'component-base', 'client'] },
  dns: { imports: [...pure, 'host', 'component-base', 'wire', 'client'] },
  'local-path-provisioner': { imports: [...pure, 'host', 'controller-runtime'] },
  'cloud-provider': { imports: [...pure, 'host'] },
  'cloud-controller-manager': {
    imports: [...pure, 'host', 'component-base', 'pki', 'wire', 'client', 'controller-runtime', 'cloud-provider'],
  },
  cloud: { imports: ['utils', 'host', 'component-base', 'pki', 'wire', 'apimachinery', 'cloud-provider'] },
  cluster: { imports: ['*'] },
  testing: { imports: ['*'] },
  cmd: { imports: ['*'] },
};

/** Rooms that a `*` room may not import: assembly never reaches up into the binary or into the test kit. */
export const above = { cluster: ['testing', 'cmd'], testing: ['cmd'], cmd: ['testing'] };

/** Folders inside an impure room that are pure cores (design: "a pure core decides, a thin shell acts"). */
export const pureFolders = [
  'scheduler/framework',
  'scheduler/plugins',
  'scheduler/cycle',
  'controllers',
  'apiserver/audit/core',
  'apiserver/flowcontrol/core',
  'cloud/model',
  'cloud/core',
  'cloud/machine/plan',
  'local-path-provisioner/reconcile',
];

/** Rooms that may read the machine's clock and draw chance: everybody else is given a Clock or an Rng. */
export const ambientRooms = ['host', 'cmd'];

/** Whether a file of a pure folder waits: `actions` of a control loop is its shell, which carries out and asks what the core decided. */
export const mayWait = (file) => /^controllers\/[^/]+\/actions(\.ts$|\/)/.test(file);

/**
 * The second level of large rooms: which of their folders may import which. Files at the room's root stand over all of them, and only those of
 * `shared` may be imported from below. `*`: everything below. `below`: the folder that each other one may import. `node`: the only folders that
 * may import `node:` modules.
 * @type {Record<string, { shared: string[], below?: string, node?: string[], folders: Record<string, string[]> }>}
 */
export const inner = {
  apiserver: {
    shared: ['limits.ts', 'settings.ts'],
    // Every folder may ask it of the machine; it and those of `node` alone import `node:` modules.
    below: 'platform',
    node: ['platform'],
    folders: {
      platform: [],
      request: [],
      configuration: [],
      storage: [],
      encryption: ['configuration', 'storage'],
      outbound: ['storage'],
      authentication: ['request', 'configuration', 'storage', 'outbound'],
      authorization: ['request', 'configuration', 'storage', 'outbound', 'authentication'],
      audit: ['request', 'outbound', 'authorization'],
      flowcontrol: ['request'],
      registry: ['request', 'storage', 'authentication', 'authorization'],
      admission: ['request', 'configuration', 'storage', 'outbound', 'authentication', 'authorization', 'audit', 'registry'],
      apiextensions: ['storage', 'outbound', 'audit', 'registry'],
      bootstrap: ['storage', 'authorization', 'registry'],
      chain: ['request', 'flowcontrol', 'storage', 'authentication', 'authorization', 'audit', 'registry'],
      endpoints: ['request', 'storage', 'registry', 'chain'],
      adapters: ['request', 'registry', 'chain', 'endpoints'],
      aggregation: ['request', 'storage', 'outbound', 'registry', 'apiextensions', 'bootstrap', 'chain', 'endpoints'],
      decisions: ['request', 'storage', 'outbound', 'aggregation'],
      app: ['*'],
    },
  },
  kubelet: {
    shared: ['limits.ts', 'options.ts', 'events.ts'],
    folders: {
      container: [],
      env: ['container'],
      logs: ['container'],
      network: [],
      node: ['container'],
      pod: ['container'],
      certificates: [],
      cgroups: ['node'],
      probes: ['container', 'pod'],
      hooks: ['container', 'probes'],
      csi: ['container'],
      volumes: ['container', 'csi', 'env', 'node'],
      eviction: ['container', 'logs', 'node'],
      images: ['container', 'env', 'eviction', 'pod'],
      stats: ['container', 'eviction', 'logs'],
      status: ['container', 'node', 'pod'],
      runtime: ['container', 'cgroups', 'env', 'logs', 'network', 'node', 'probes', 'stats', 'volumes'],
      workers: ['container', 'pod', 'node', 'probes', 'hooks', 'eviction', 'images', 'status'],
      housekeeping: ['container', 'node', 'eviction', 'images', 'stats', 'volumes', 'workers'],
      server: ['cgroups', 'container', 'logs', 'node', 'runtime', 'stats'],
      config: ['eviction', 'node', 'server', 'workers'],
      'test-support': ['*'],
    },
  },
  cloud: {
    shared: [],
    folders: {
      model: [],
      core: ['model', 'api'],
      api: ['model'],
      client: ['api'],
      faults: ['model'],
      machine: ['model'],
      'load-balancers': ['model'],
      server: ['api', 'core', 'faults', 'model'],
      provider: ['api', 'client', 'model'],
      emulators: ['api', 'client', 'core', 'model'],
      memory: ['api', 'client', 'core', 'model', 'server'],
    },
  },
  cluster: {
    // The control plane of this process, which everything beside it is given; the way in of other commands; what this machine has.
    shared: ['capabilities.ts', 'control-plane.ts', 'control-socket.ts', 'port-holder.ts'],
    folders: {
      flags: [],
      terminal: [],
      objects: [],
      state: ['flags'],
      'component-args': ['flags', 'state'],
      certificates: ['state'],
      store: ['flags', 'state'],
      explain: ['certificates'],
      nodes: ['certificates', 'state'],
      renewal: ['certificates', 'nodes', 'state'],
      images: ['nodes', 'state'],
      cloud: ['certificates', 'component-args', 'flags', 'nodes', 'objects', 'state'],
      'add-ons': ['certificates', 'cloud', 'objects', 'state'],
      joining: ['add-ons', 'certificates', 'cloud', 'flags', 'objects', 'state'],
      'control-planes': ['certificates', 'cloud', 'flags', 'nodes', 'objects', 'state', 'terminal'],
      endpoint: ['cloud', 'control-planes', 'flags'],
      access: ['certificates', 'endpoint', 'nodes', 'state'],
      'system-pods': ['add-ons', 'control-planes', 'flags', 'images', 'joining', 'objects', 'state'],
      'cluster-nodes': [
        ...['add-ons', 'certificates', 'cloud', 'control-planes', 'endpoint', 'flags', 'images', 'nodes', 'objects', 'state'],
        ...['system-pods', 'terminal'],
      ],
      machines: [
        ...[
          'certificates',
          'cloud',
          'component-args',
          'control-planes',
          'flags',
          'joining',
          'nodes',
          'objects',
          'renewal',
          'state',
        ],
        ...['store', 'terminal'],
      ],
      'node-agent': ['add-ons', 'component-args', 'control-planes', 'images', 'machines', 'nodes', 'system-pods'],
      status: ['certificates', 'cloud', 'control-planes', 'endpoint', 'flags', 'state', 'terminal'],
      start: ['*'],
    },
  },
  cmd: {
    shared: ['component.ts', 'completion.ts', 'man.ts'],
    folders: {
      process: [],
      config: [],
      flags: [],
      commands: ['process', 'config', 'flags'],
      tree: ['flags', 'commands'],
    },
  },
};
