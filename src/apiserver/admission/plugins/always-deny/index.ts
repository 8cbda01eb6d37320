// AlwaysDeny: nothing may be changed (plugin/pkg/admission/deny). Deprecated upstream: it is of use only in tests.
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny } from '../../plugin.ts';

const refuse = (request: AdmissionRequest): never => {
  throw deny(request, 'admission control is denying all modifications');
};

export const plugin = definePlugin(
  'AlwaysDeny',
  () => ({ name: 'AlwaysDeny', handles: () => true, admit: refuse, validate: refuse }),
  { onByDefault: false },
);
