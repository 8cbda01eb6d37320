// kubernetes_build_info, which every component has (k8s.io/component-base/metrics/prometheus/version).
import { versionInfo } from '../version-info.ts';
import type { Metrics } from './metrics.ts';

/** Adds what this build is to a registry. */
export function buildInfo(metrics: Metrics): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = versionInfo();
  const facts = {
    major,
    minor,
    git_version: gitVersion,
    git_commit: gitCommit,
    git_tree_state: gitTreeState,
    build_date: buildDate,
    go_version: goVersion,
    compiler,
    platform,
  };
  const gauge = metrics.gauge({
    name: 'kubernetes_build_info',
    help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    labels: Object.keys(facts),
  });
  gauge.set(1, ...Object.values(facts));
}
