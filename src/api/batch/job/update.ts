// Rules of changes of a job (pkg/apis/batch/validation, ValidateJobSpecUpdate; KEP-2926, KEP-5440: a suspended job's template may change).
import type { Job, JobSpec } from '#api/batch/v1';
import type { Affinity, Container, PodSpec, PodTemplateSpec } from '#api/core/v1';
import { type FieldError, root } from '#apimachinery/field';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { collect, type Report } from '../../common/report.ts';
import type { KindContext } from '../../kind.ts';
import { isTrue } from './conditions.ts';
import { validateJob, validateJobSpec } from './validation.ts';

const path = root('spec');

function validateCompletions(report: Report, spec: JobSpec, old: JobSpec): void {
  const at = path.child('completions');
  if (spec.completionMode !== 'Indexed') return immutable(report, at, spec.completions, old.completions);
  if (spec.completions === old.completions || spec.completions === undefined) return;
  if (spec.completions !== spec.parallelism)
    report.invalid(at, spec.completions, 'can only be modified in tandem with spec.parallelism');
}

/** The old template with what may change taken from the new one. */
function withDirectivesOf(old: PodTemplateSpec, { metadata, spec = { containers: [] } }: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates } = spec;
  return {
    metadata: { ...old.metadata, labels: metadata?.labels, annotations: metadata?.annotations },
    spec: {
      ...(old.spec ?? { containers: [] }),
      affinity: affinityOf(old.spec?.affinity, spec.affinity),
      nodeSelector,
      tolerations,
      schedulingGates,
    },
  };
}

/** The old affinity towards nodes is the new one's; what was nothing else goes where the new one is absent. */
function affinityOf(old: Affinity | undefined, now: Affinity | undefined): Affinity | undefined {
  const { nodeAffinity: _, ...others }: Affinity = old ?? {};
  if (!now && Object.keys(others).length === 0) return undefined;
  return { ...others, ...(now?.nodeAffinity && { nodeAffinity: now.nodeAffinity }) };
}

const withResourcesOf = (old: Container[] = [], containers: Container[] = []): Container[] =>
  old.length !== containers.length
    ? old
    : old.map((container, index) =>
        containers[index]?.name === container.name ? { ...container, resources: containers[index]?.resources } : container,
      );

function validateTemplate(report: Report, { spec, status }: { spec: JobSpec; status: Job['status'] }, old: JobSpec): void {
  const suspended = old.suspend === true;
  const idle = suspended && (!status?.startTime || isTrue(status, 'Suspended')) && !status?.active;
  const template = spec.template ?? {};
  const before = idle ? withDirectivesOf(old.template ?? {}, template) : (old.template ?? {});
  if (!suspended || !idle)
    return immutable(report, path.child('template'), template, before, internalForm('core.PodTemplateSpec', template));
  const pod: PodSpec = before.spec ?? { containers: [] };
  const resized: PodSpec = {
    ...pod,
    containers: withResourcesOf(pod.containers, template.spec?.containers),
    initContainers: withResourcesOf(pod.initContainers, template.spec?.initContainers),
  };
  immutable(report, path.child('template.spec'), template.spec, resized, internalForm('core.PodSpec', template.spec));
}

export function validateJobUpdate(job: Job, old: Job, context: KindContext): FieldError[] {
  const spec = job.spec ?? { template: {} };
  const before = old.spec ?? { template: {} };
  return [
    ...validateJob(job, context, old),
    ...collect((report) => {
      validateJobSpec(report, spec, context, before);
      validateCompletions(report, spec, before);
      immutable(report, path.child('selector'), spec.selector, before.selector);
      validateTemplate(report, { spec, status: old.status }, before);
      for (const field of ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const) {
        immutable(report, path.child(field), spec[field], before[field], printed(field, spec[field]));
      }
    }),
  ];
}

const internalTypes: Record<string, string> = {
  podFailurePolicy: 'batch.PodFailurePolicy',
  successPolicy: 'batch.SuccessPolicy',
};

function printed(field: string, value: unknown): unknown {
  const type = internalTypes[field];
  return type === undefined || value === undefined ? value : internalForm(type, value);
}
