// What is left of clouds in kube-controller-manager (KEP-2395): names of loops that the cloud-controller-manager runs, and the refusal of
// providers. Pure.
import { quote } from '#utils';
import { allow, recordEvents } from '#controller-runtime/workload';
import type { AbsentLoop } from './absent.ts';

const gone = (flagged: string, what: string): string =>
  `${flagged} is set, but no cloud provider functionality is available in kube-controller-manger (KEP-2395). Will not configure ${what}.`;

/** Names that `--controllers` and leader migration know. */
export const cloudLoops: readonly AbsentLoop[] = [
  {
    name: 'service-lb-controller',
    aliases: ['service'],
    why: gone('service-controller', 'service controller'),
    role: {
      name: 'service-controller',
      rights: [
        allow('get,list,watch', 'core', 'services'),
        allow('patch,update', 'core', 'services/status'),
        allow('list,watch', 'core', 'nodes'),
        recordEvents,
      ],
    },
  },
  {
    name: 'node-route-controller',
    aliases: ['route'],
    why: gone('configure-cloud-routes', 'cloud provider routes'),
    role: {
      name: 'route-controller',
      rights: [allow('list,watch', 'core', 'nodes'), allow('patch', 'core', 'nodes/status'), recordEvents],
    },
  },
  {
    name: 'cloud-node-lifecycle-controller',
    aliases: ['cloud-node-lifecycle'],
    why: gone('node-controller', 'node lifecyle controller'),
  },
];

/** Throws an Error with upstream's text for `--cloud-provider` values that name a provider, and for its kind of address allocation. */
export function checkCloudProvider(provider: string, cidrAllocatorType: string): void {
  if (provider !== '' && provider !== 'external')
    throw new Error(
      `cloud provider ${quote(provider)} was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider`,
    );
  if (cidrAllocatorType !== '' && cidrAllocatorType !== 'RangeAllocator')
    throw new Error(`built-in cloud providers are disabled. The ipam ${cidrAllocatorType} is not available`);
}
