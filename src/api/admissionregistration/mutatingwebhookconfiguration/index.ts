// Mutating webhook configurations (admissionregistration.k8s.io/v1; pkg/registry/admissionregistration/mutatingwebhookconfiguration).
import { defineKind } from '../../kind.ts';
import { type WebhookConfiguration, webhookConfigurationRules } from '../common/webhooks.ts';

export const mutatingWebhookConfiguration = defineKind<WebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  metadataRules: 'whole',
  kubeFinalizers: false,
  ...webhookConfigurationRules(true),
});
