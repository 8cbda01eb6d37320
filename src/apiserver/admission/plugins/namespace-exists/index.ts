// NamespaceExists: nothing is asked for in a namespace that is absent (plugin/pkg/admission/namespace/exists).
import type { Namespace } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import { definePlugin, handling, type PluginFactory } from '../../plugin.ts';

export const namespaceExists: PluginFactory = ({ cluster }) => ({
  name: 'NamespaceExists',
  handles: handling('CREATE', 'UPDATE', 'DELETE'),
  validate({ namespace, group, kind }) {
    if (namespace === '' || (group === '' && kind === 'Namespace')) return;
    if (!cluster.get<Namespace>('', 'namespaces', '', namespace))
      throw notFound({ group: '', resource: 'namespaces' }, namespace);
  },
});

export const plugin = definePlugin('NamespaceExists', namespaceExists, { onByDefault: false });
