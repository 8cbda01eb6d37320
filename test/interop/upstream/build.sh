#!/bin/sh
# Builds upstream's components into DIR for the tests that use SAGONG_UPSTREAM_BIN=DIR. Takes many minutes the first time.
#   test/interop/upstream/build.sh DIR
set -eu
version=v1.36.2
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")"
set_version="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
for component in kube-scheduler kube-apiserver kube-controller-manager cloud-controller-manager kubelet kubeadm; do
  nice -n 15 go build -trimpath -ldflags "-s -w $set_version" -o "$out/$component" "./$component"
done
# The vendor's own manager for AWS, which runs on the emulated one.
GOBIN=$out nice -n 15 go install -ldflags '-s -w' k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager@v1.36.0
