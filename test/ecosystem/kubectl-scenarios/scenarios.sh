#!/usr/bin/env bash
# Runs upstream's scenarios of kubectl (test/cmd) against a server that runs: scenarios.sh SOURCES URL REPORTS. It takes the place of upstream's
# hack/make-rules/test-cmd.sh, which builds and starts the servers, too. WHAT names some scenarios, as there.
set -o errexit -o nounset -o pipefail
cd "$1"
export SECURE_API_PORT=${2##*:} KUBE_JUNIT_REPORT_DIR=$3
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh
# By WHAT it finds those that end like the others.
run_secrets_tests() { run_secrets_test; }
run_kubectl_diff_same_names_tests() { run_kubectl_diff_same_names; }

kube::util::ensure-temp-dir
kube::util::ensure-gnu-sed
HOME=$KUBE_TEMP
export KUBECONFIG=$KUBE_TEMP/config
CONTEXT=test
kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "$2"
kubectl config set-context "$CONTEXT" --user test-admin --cluster local
kubectl config use-context "$CONTEXT"
# There is no kubelet. With an annotation the node has a field manager, which some scenarios look for.
kubectl get node 127.0.0.1 2>/dev/null || kubectl create -f - <<'NODE'
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}}, "status": {"capacity": {"memory": "1Gi"}}}
NODE
# Ours says of which program it is in its version.
export ALLOW_SKEW=y SUPPORTED_RESOURCES=("*")
runTests
stop-proxy
rm -rf "$KUBE_TEMP"
