package controller

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	harbourv1 "sagong.dev/envtest/api/v1"
)

func TestReconciler(t *testing.T) {
	logf.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	if err := harbourv1.AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	cfg, err := env.Start()
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := (&BoatReconciler{Client: mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	k8sClient, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	boat := &harbourv1.Boat{ObjectMeta: metav1.ObjectMeta{Name: "raft", Namespace: "default"}, Spec: harbourv1.BoatSpec{Name: "Raft"}}
	if err := k8sClient.Create(ctx, boat); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		if err := k8sClient.Get(ctx, client.ObjectKeyFromObject(boat), boat); err != nil {
			t.Fatal(err)
		}
		if meta.IsStatusConditionTrue(boat.Status.Conditions, "Afloat") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not afloat: %v", boat.Status)
		}
	}
}
