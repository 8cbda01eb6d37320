// Nothing is made in a namespace that is absent or going away, and the first namespaces stay
// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
import type { Namespace } from '#api/core/v1';
import { forbidden, notFound } from '#apimachinery/errors';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny, handling, type PluginFactory } from '../../plugin.ts';

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

const aboutNamespace = (request: AdmissionRequest): boolean => request.kind === 'Namespace' && request.group === '';

// Telling what a namespace's state is would leak it to whoever may ask for their rights.
const isAccessReview = (request: AdmissionRequest): boolean =>
  request.group === 'authorization.k8s.io' && request.resource === 'localsubjectaccessreviews';

export const namespaceLifecycle: PluginFactory = ({ cluster }) => ({
  name: 'NamespaceLifecycle',
  handles: handling('CREATE', 'UPDATE', 'DELETE'),
  admit(request) {
    const { operation, namespace, name } = request;
    if (aboutNamespace(request)) {
      if (operation !== 'DELETE' || !immortal.has(name)) return;
      throw forbidden({ group: request.group, resource: request.resource }, name, 'this namespace may not be deleted');
    }
    if (namespace === '' || operation === 'DELETE' || isAccessReview(request)) return;
    const found = cluster.get<Namespace>('', 'namespaces', '', namespace);
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (operation !== 'CREATE' || found.status?.phase !== 'Terminating') return;
    const error = deny(request, `unable to create new content in namespace ${namespace} because it is being terminated`);
    const details = (error.status.details ??= {});
    details.causes = [
      ...(details.causes ?? []),
      { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' },
    ];
    throw error;
  },
});

export const plugin = definePlugin('NamespaceLifecycle', namespaceLifecycle);
