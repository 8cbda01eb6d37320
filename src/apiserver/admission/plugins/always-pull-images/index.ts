// AlwaysPullImages: every image is pulled before it runs, so that a pod uses only images its owner may pull (plugin/pkg/admission/alwayspullimages).
import { containersOf } from '#api/core/pod';
import type { Pod } from '#api/core/v1';
import { errorText, notSupported, type Path, root } from '#apimachinery/field';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny, handling, isFor, type PluginFactory } from '../../plugin.ts';

const always = 'Always';

const imagesOf = (pod: Pod | undefined): Set<string | undefined> =>
  new Set(pod?.spec ? containersOf(pod.spec).map(({ image }) => image) : []);

/** A pod whose images are to be pulled; undefined for other requests, and for updates that bring no new image. */
function concerned(request: AdmissionRequest): Pod | undefined {
  if (!isFor(request, '', 'pods')) return undefined;
  const pod = request.object as Pod;
  const known = imagesOf(request.oldObject as Pod | undefined);
  const isKnown = request.operation === 'UPDATE' && [...imagesOf(pod)].every((image) => known.has(image));
  return isKnown ? undefined : pod;
}

/** Every pull policy of a pod and where it stands. */
function* policiesOf({ spec }: Pod): Generator<{ path: Path; policy: string | undefined }> {
  for (const name of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    for (const [index, { imagePullPolicy: policy }] of (spec?.[name] ?? []).entries())
      yield { path: root('spec', name).index(index).child('imagePullPolicy'), policy };
  for (const [index, { image }] of (spec?.volumes ?? []).entries())
    if (image) yield { path: root('spec', 'volumes').index(index).child('image', 'pullPolicy'), policy: image.pullPolicy };
}

export const alwaysPullImages: PluginFactory = () => ({
  name: 'AlwaysPullImages',
  handles: handling('CREATE', 'UPDATE'),
  admit(request) {
    const pod = concerned(request);
    if (!pod?.spec) return;
    for (const container of containersOf(pod.spec)) container.imagePullPolicy = always;
    for (const { image } of pod.spec.volumes ?? []) if (image) image.pullPolicy = always;
  },
  validate(request) {
    const pod = concerned(request);
    for (const { path, policy } of pod ? policiesOf(pod) : [])
      if (policy !== always) throw deny(request, errorText(notSupported(path, policy ?? '', [always])));
  },
});

export const plugin = definePlugin('AlwaysPullImages', alwaysPullImages, { onByDefault: false });
