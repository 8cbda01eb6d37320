// Validating webhook configurations (admissionregistration.k8s.io/v1; pkg/registry/admissionregistration/validatingwebhookconfiguration).
import { defineKind } from '../../kind.ts';
import { type WebhookConfiguration, webhookConfigurationRules } from '../common/webhooks.ts';

export const validatingWebhookConfiguration = defineKind<WebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  metadataRules: 'whole',
  kubeFinalizers: false,
  ...webhookConfigurationRules(false),
});
