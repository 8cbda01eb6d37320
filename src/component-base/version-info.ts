// What `/version`, `--version` and user agents say (k8s.io/component-base/version). The Kubernetes version is the one whose behaviour
// this build has; the rest is what is true of this build.
import { goArchitecture } from '#host';
import { gitVersion, kubernetesVersion } from './version.ts';

/** What `/version` answers as JSON (apimachinery/pkg/version.Info). */
export interface VersionInfo {
  major: string;
  minor: string;
  /** Newer servers also tell what they emulate. */
  emulationMajor?: string;
  emulationMinor?: string;
  minCompatibilityMajor?: string;
  minCompatibilityMinor?: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  /** Upstream's field name; here the JavaScript runtime. */
  goVersion: string;
  compiler: string;
  /** `linux/amd64`. */
  platform: string;
}

const goPlatforms: Record<string, string> = { win32: 'windows' };

/** The platform in Go's words, as in `linux/amd64`. */
export const platform = (): string => `${goPlatforms[process.platform] ?? process.platform}/${goArchitecture()}`;

export function versionInfo(build: { commit?: string; date?: string } = {}): VersionInfo {
  const { major, minor } = kubernetesVersion;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion,
    gitCommit: build.commit ?? '',
    gitTreeState: build.commit === undefined ? '' : 'clean',
    buildDate: build.date ?? '1970-01-01T00:00:00Z',
    goVersion: `node${process.version}`,
    compiler: 'v8',
    platform: platform(),
  };
}

/** What a client calls itself, as rest.DefaultKubernetesUserAgent does: `kube-scheduler/v1.36.2 (linux/amd64) kubernetes/<commit>`. */
export const userAgent = (component: string, commit = '$Format'): string =>
  `${component}/${gitVersion} (${platform()}) kubernetes/${commit.slice(0, 7)}`;
