#!/bin/sh
# The step of action.yml: starts a cluster and tells later steps where its kubeconfig is. SAGONG names the program; by default the published package.
set -eu
sagong=${SAGONG:-npx --yes sagong}
# The name is what the step was given, or else what the configuration says, or else the program's default.
name=${SAGONG_NAME:-}
if [ -z "$name" ] && [ -n "${SAGONG_CONFIG:-}" ]; then
  name=$(sed -n "s/^name: *[\"']\{0,1\}\([A-Za-z0-9._-]*\).*/\1/p" "$SAGONG_CONFIG" | head -n 1)
fi
name=${name:-sagong}
set -- up --name "$name" --runtime "${SAGONG_RUNTIME:-auto}" --detach
if [ -n "${SAGONG_CONFIG:-}" ]; then set -- "$@" --config "$SAGONG_CONFIG"; else set -- "$@" --nodes "${SAGONG_NODES:-1}"; fi
$sagong "$@"
kubeconfig=$HOME/.sagong/$name/kubeconfig
test -s "$kubeconfig"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "kubeconfig=$kubeconfig" >> "$GITHUB_OUTPUT"
[ -z "${GITHUB_ENV:-}" ] || echo "KUBECONFIG=$kubeconfig" >> "$GITHUB_ENV"
