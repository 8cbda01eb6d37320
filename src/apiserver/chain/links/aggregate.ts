// Requests for what other API servers serve go on to them (k8s.io/kube-aggregator/pkg/apiserver).
import type { Link } from '../chain.ts';
import type { ChainServices } from '../services.ts';

export const aggregate =
  ({ remotes }: ChainServices): Link =>
  (request, next) =>
    remotes?.serve(request) ?? next(request);
