// A small server of Google's Compute Engine API on loopback, for tests: instances, load balancers, firewalls, routes of a few projects, with operations
// that take time; and the metadata service. Written from the vendor's public reference
// (https://cloud.google.com/compute/docs/reference/rest/v1).
import { type Clock, type Rng } from 'sagong/cloud-provider';
import { Refusal, startVendorServer, type VendorServer } from 'sagong/cloud-provider/test-server';
import { metadataRoutes } from './metadata.ts';
import { Projects } from '../src/emulator/project.ts';
import { refusalBody } from '../src/emulator/refusals.ts';
import { computeRoutes } from '../src/emulator/routes.ts';

export type { Projects } from '../src/emulator/project.ts';
export { nameIn, pathIn, type Resource } from '../src/emulator/resource.ts';

export interface TestServerOptions {
  clock: Clock;
  rng: Rng;
  token?: string;
}
export interface TestServer extends VendorServer {
  token: string;
  projects: Projects;
  /** The value for `api-endpoint`. */
  endpoint: string;
}

export const project = 'test-project';
export const region = 'europe-west1';
export const zones = [`${region}-b`, `${region}-c`, `${region}-d`] as const;
export const network = 'default';

const isApi = (path: string): boolean => path.startsWith('/compute/');

/** Starts it with one project, two regions, and a network of mode auto. */
export async function startTestServer({ clock, rng, token = 'ya29.test' }: TestServerOptions): Promise<TestServer> {
  const now = (): number => clock.now();
  const projects: Projects = new Projects(now, () => server.faults, rng);
  const server: VendorServer = await startVendorServer({
    clock,
    rng,
    routes: {
      ...computeRoutes({ projects, sleep: (ms) => server.sleep(ms) }),
      ...metadataRoutes({ token, project, zone: zones[0], network, now }),
    },
    spared: ({ url }) => !isApi(url.pathname),
    enter({ url, headers }) {
      if (isApi(url.pathname) && headers['authorization'] !== `Bearer ${token}`)
        throw new Refusal(401, 'authError', 'Request had invalid authentication credentials.');
      projects.operations.settle();
    },
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
  });
  projects.addProject(project, { [region]: zones, 'us-central1': ['us-central1-a'] });
  projects.addNetwork(project, network);
  return { ...server, token, projects, endpoint: `${server.url}/compute/v1/` };
}
