#!/bin/sh
# The step of action.yml: starts a cluster and tells later steps where its kubeconfig is. SAGONG names the program; by default the published package.
set -eu
sagong=${SAGONG:-npx --yes sagong}
name=${SAGONG_NAME:-sagong}
set -- up --name "$name" --runtime "${SAGONG_RUNTIME:-auto}" --detach
if [ -n "${SAGONG_CONFIG:-}" ]; then set -- "$@" --config "$SAGONG_CONFIG"; else set -- "$@" --nodes "${SAGONG_NODES:-1}"; fi
$sagong "$@"
kubeconfig=$HOME/.sagong/$name/kubeconfig
test -s "$kubeconfig"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "kubeconfig=$kubeconfig" >> "$GITHUB_OUTPUT"
[ -z "${GITHUB_ENV:-}" ] || echo "KUBECONFIG=$kubeconfig" >> "$GITHUB_ENV"
