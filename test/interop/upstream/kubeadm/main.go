// Upstream's kubeadm, unmodified, for tests in which it joins a machine.
package main

import (
	"k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
)

func main() { kubeadmerrors.HandleError(app.Run()) }
