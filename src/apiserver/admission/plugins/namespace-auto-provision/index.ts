// NamespaceAutoProvision: a namespace is made when something is made in it (plugin/pkg/admission/namespace/autoprovision).
import type { Namespace } from '#api/core/v1';
import { isAlreadyExists } from '#apimachinery/errors';
import { definePlugin, deny, handling, type PluginFactory } from '../../plugin.ts';

export const namespaceAutoProvision: PluginFactory = ({ cluster, writer }) => ({
  name: 'NamespaceAutoProvision',
  handles: handling('CREATE'),
  async admit(request) {
    const { namespace: name, group, kind, dryRun } = request;
    if (dryRun || name === '' || (group === '' && kind === 'Namespace')) return;
    if (cluster.get<Namespace>('', 'namespaces', '', name)) return;
    const made: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await writer.create('', 'namespaces', made).catch((error: Error) => {
      if (!isAlreadyExists(error)) throw deny(request, error.message);
    });
  },
});

export const plugin = definePlugin('NamespaceAutoProvision', namespaceAutoProvision, { onByDefault: false });
