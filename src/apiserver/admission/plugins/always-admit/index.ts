// AlwaysAdmit: nothing is checked (k8s.io/apiserver/pkg/admission/plugin, admit). Deprecated upstream: it does nothing.
import { definePlugin } from '../../plugin.ts';

export const plugin = definePlugin('AlwaysAdmit', () => ({ name: 'AlwaysAdmit', handles: () => true }), { onByDefault: false });
