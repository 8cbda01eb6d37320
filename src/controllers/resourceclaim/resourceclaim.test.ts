// Tables of what the loop over claims decides.
import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { ResourceClaim, ResourceClaimTemplate } from '#api/resource/v1';
import { type ClaimView, reconcileClaim } from './claim.ts';
import { type PodView, reconcilePod } from './pod.ts';

const finalizers = ['resource.kubernetes.io/delete-protection'];
const allocation = { devices: { results: [] } };

const pod = (name: string, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { containers: [], resourceClaims: [{ name: 'device', resourceClaimTemplateName: 'template' }] },
  ...more,
});
const claim = (more: Partial<ResourceClaim['metadata']>, status: ResourceClaim['status'] = {}): ResourceClaim => ({
  metadata: { name: 'claim', namespace: 'default', ...more },
  spec: {},
  status,
});
const ownedBy = (name: string) => ({
  annotations: { 'resource.kubernetes.io/pod-claim-name': 'device' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid: `uid-${name}`, controller: true }],
});
const user = (name: string) => ({ resource: 'pods', name, uid: `uid-${name}` });
const template: ResourceClaimTemplate = { metadata: { name: 'template' }, spec: { metadata: { labels: { a: 'b' } }, spec: {} } };
const podView = (more: Partial<PodView>): PodView => ({ pod: pod('p'), claims: new Map(), templates: new Map(), ...more });
const claimView = (of: ResourceClaim, pods: Pod[] = [], live: ClaimView['live'] = new Map()): ClaimView => ({
  claim: of,
  pods: new Map(pods.map((one) => [one.metadata.name ?? '', one])),
  live,
});
const done = (name: string): Pod => pod(name, { status: { phase: 'Succeeded' } });

describe('a pod', () => {
  it('gets a claim from its template, named after both', () => {
    const { effects } = reconcilePod(podView({ templates: new Map([['template', template]]) }));
    expect(effects).toMatchObject([
      { op: 'create', object: { metadata: { generateName: 'p-device-', labels: { a: 'b' }, ...ownedBy('p') }, spec: {} } },
    ]);
  });
  it('has names cut in proportion', () => {
    const long = pod('p'.repeat(60), {
      spec: { containers: [], resourceClaims: [{ name: 'd'.repeat(30), resourceClaimTemplateName: 'template' }] },
    });
    const { effects } = reconcilePod(podView({ pod: long, templates: new Map([['template', template]]) }));
    expect(effects).toMatchObject([{ object: { metadata: { generateName: expect.stringMatching(/^p{37}-d{18}/) } } }]);
  });
  it('learns the name of a claim that was made before', () => {
    const { effects } = reconcilePod(podView({ claims: new Map([['claim', claim(ownedBy('p'))]]) }));
    expect(effects).toMatchObject([
      {
        op: 'patch',
        subresource: 'status',
        body: { status: { resourceClaimStatuses: [{ name: 'device', resourceClaimName: 'claim' }] } },
      },
    ]);
  });
  it('is told that its template is missing', () => {
    const { effects, failure } = reconcilePod(podView({}));
    expect(effects).toMatchObject([{ op: 'event', reason: 'FailedResourceClaimCreation' }]);
    expect(failure).toContain('not found');
  });
  it('is entered in its claim where somebody else than the scheduler placed it', () => {
    const placed = pod('p', {
      spec: { containers: [], nodeName: 'n', resourceClaims: [{ name: 'device', resourceClaimName: 'claim' }] },
    });
    const view = podView({ pod: placed, claims: new Map([['claim', claim({}, { allocation })]]) });
    expect(reconcilePod(view).effects).toMatchObject([
      { op: 'update', subresource: 'status', object: { status: { reservedFor: [user('p')] } } },
    ]);
    const taken = podView({ pod: placed, claims: new Map([['claim', claim({}, { allocation, reservedFor: [user('p')] })]]) });
    expect(reconcilePod(taken).effects).toEqual([]);
  });
  it('that is being deleted gets nothing', () => {
    const leaving = pod('p', { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(reconcilePod(podView({ pod: leaving, templates: new Map([['template', template]]) })).effects).toEqual([]);
  });
});

describe('a claim', () => {
  const used = claim({ finalizers }, { allocation, reservedFor: [user('a'), user('b')] });
  it('keeps pods that run, and those that it cannot judge', () => {
    expect(reconcileClaim(claimView(used, [pod('a'), pod('b')])).effects).toEqual([]);
    const foreign = { apiGroup: 'example.org', resource: 'things', name: 'x', uid: 'x' };
    expect(reconcileClaim(claimView(claim({ finalizers }, { allocation, reservedFor: [foreign] }))).effects).toEqual([]);
  });
  it('asks about pods that it has not seen, before it lets them go', () => {
    expect(reconcileClaim(claimView(used, [pod('a')])).needsLive).toMatchObject([{ name: 'b' }]);
  });
  it('lets go of pods that are done, and of its devices with the last one', () => {
    expect(reconcileClaim(claimView(used, [pod('a'), done('b')])).effects).toMatchObject([
      { op: 'update', subresource: 'status', object: { status: { allocation, reservedFor: [user('a')] } } },
    ]);
    const { effects } = reconcileClaim(claimView(used, [done('a'), done('b')]));
    expect(effects).toMatchObject([{ op: 'action', name: 'release', input: { status: { reservedFor: [] } } }]);
    expect(effects).not.toHaveProperty('0.input.status.allocation');
  });
  it('does not touch devices that somebody else has allocated', () => {
    const foreign = claim({}, { allocation, reservedFor: [user('a')] });
    expect(reconcileClaim(claimView(foreign, [done('a')])).effects).toMatchObject([
      { object: { status: { allocation, reservedFor: [] } } },
    ]);
  });
  it('goes when it was made for a pod that is done', () => {
    expect(reconcileClaim(claimView(claim(ownedBy('a')), [done('a')])).effects).toMatchObject([{ op: 'delete' }]);
    expect(reconcileClaim(claimView(claim(ownedBy('a')), [pod('a')])).effects).toEqual([]);
  });
  it('that is deleted loses its finalizer once nobody uses it', () => {
    const leaving = claim({ finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' }, { allocation });
    expect(reconcileClaim(claimView(leaving)).effects).toMatchObject([{ op: 'action', name: 'release' }]);
    const bare = claim({ finalizers, deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(reconcileClaim(claimView(bare)).effects).toMatchObject([{ op: 'patch', body: { metadata: { finalizers: [] } } }]);
  });
});
