// Metrics of the tagging controller, with upstream's names (also the misspelt one).
import type { ProviderMetrics } from 'sagong/cloud-provider';

export interface TaggingMetrics {
  failed(errorType: 'total_errors' | 'errors_after_retries_exhausted', instanceId: string): void;
  firstTagged(sinceCreationMs: number): void;
}

export function taggingMetrics(metrics: ProviderMetrics | undefined): TaggingMetrics {
  const errors = metrics?.counter({
    name: 'cloudprovider_aws_tagging_controller_work_item_errors_total',
    help: 'any error in dequeueing the work queue and processing workItem',
    labels: ['error_type', 'instance_id'],
  });
  const delay = metrics?.histogram({
    name: 'tagging_controller_inital_node_tagging_delay_seconds',
    help: 'Latency (in seconds) between node creation and its first successful tagging by TaggingController.',
    buckets: [1, 4, 16, 64, 256, 1024],
  });
  return {
    failed: (errorType, instanceId) => errors?.inc(1, errorType, instanceId),
    firstTagged(sinceCreationMs) {
      if (Number.isFinite(sinceCreationMs)) delay?.observe(sinceCreationMs / 1000);
    },
  };
}
