// RBAC rules in short, so that a controller's `rights` read like upstream's table (plugin/pkg/auth/authorizer/rbac/bootstrappolicy).
import type { PolicyRule } from '../types.ts';

const words = (text: string): string[] => text.split(',');

/** Makes a rule: `allow('get,list', 'core,apps', 'pods')`, where `core` stands for the group ''. */
export const allow = (verbs: string, groups: string, resources: string): PolicyRule => ({
  verbs: words(verbs),
  apiGroups: words(groups).map((group) => (group === 'core' ? '' : group)),
  resources: words(resources),
});

/** What every loop that records events may do. */
export const recordEvents: PolicyRule = allow('create,patch,update', 'core,events.k8s.io', 'events');
