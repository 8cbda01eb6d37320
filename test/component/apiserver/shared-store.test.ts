// Several apiservers on one store: what is to be had once is had once, whoever is asked.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '#api/core/v1';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, type KubeClient } from '#client';
import { systemClock, systemRng } from '#host';
import { type EtcdFront, openEtcdStore, openMemoryStore, serveEtcd, type Store } from '#store';
import { silentLogger } from '#utils';

const embedded = openMemoryStore();
const services = { group: '', version: 'v1', resource: 'services' };
/** So few that two servers which do not speak to each other would choose the same one soon. */
const ports = 40;
let front: EtcdFront;
const stores: Store[] = [];
const servers: KubeApiServer[] = [];
let clients: KubeClient[] = [];

async function start(): Promise<KubeClient> {
  const store = await openEtcdStore({ endpoints: [front.endpoint] });
  stores.push(store);
  const server = await runKubeApiServer(
    { ...defaultOptions(), bindAddress: '127.0.0.1', securePort: 0, serviceNodePortRange: [30_000, 30_000 + ports - 1] },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger, store },
  );
  servers.push(server);
  await server.started;
  return createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
}

beforeAll(async () => {
  front = await serveEtcd({ store: embedded });
  clients = await Promise.all([start(), start()]);
});
afterAll(async () => {
  for (const server of servers) await server.close();
  for (const store of stores) await store.close();
  await front.close();
  await embedded.close();
});

const create = (client: KubeClient, name: string, spec: Service['spec']): Promise<Service> =>
  client
    .resource<Service>(services, 'default')
    .create({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec } as Service);
const reasonOf = (error: { message: string }): string => error.message;
const nodePort = ({ spec }: Service): number => spec?.ports?.[0]?.nodePort ?? 0;

test('node ports and cluster IPs are handed out once, until none is left', async () => {
  const spec = { type: 'NodePort', ports: [{ port: 80 }] } as Service['spec'];
  const made = await Promise.all(
    Array.from({ length: ports }, (_, i) => create(clients[i % 2] as KubeClient, `web-${i}`, structuredClone(spec))),
  );
  expect(new Set(made.map(nodePort)).size).toBe(ports);
  expect(new Set(made.map((service) => service.spec?.clusterIP)).size).toBe(ports);
  const refused = await Promise.all(clients.map((client) => create(client, 'late', structuredClone(spec)).catch(reasonOf)));
  expect(refused.map(String)).toEqual(Array(2).fill(expect.stringContaining('failed to allocate a nodePort: range is full')));
  // One that goes makes room at the other server; what a refused write took is given back.
  const [first] = made as [Service];
  await (clients[0] as KubeClient).resource(services, 'default').delete('web-0');
  const again = await create(clients[1] as KubeClient, 'again', structuredClone(spec));
  expect(nodePort(again)).toBe(nodePort(first));
});

test('a port that two ask for in one moment goes to one of them', async () => {
  const [gone] = clients as [KubeClient];
  const freed = nodePort(await gone.resource<Service>(services, 'default').get('web-1'));
  await gone.resource(services, 'default').delete('web-1');
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: freed }] } as Service['spec'];
  const answers = await Promise.all(
    clients.map((client, i) => create(client, `wants-${i}`, structuredClone(spec)).then(nodePort, reasonOf)),
  );
  expect(answers).toContain(freed);
  expect(answers.filter((answer) => answer !== freed)).toEqual([expect.stringContaining('provided port is already allocated')]);
});
