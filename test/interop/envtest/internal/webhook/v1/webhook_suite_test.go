package v1

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/go-logr/logr"

	harbourv1 "sagong.dev/envtest/api/v1"
)

// The set-up of kubebuilder's webhook_suite_test.go, with the standard library's testing in Ginkgo's place.
func start(t *testing.T) (context.Context, client.Client, *envtest.Environment) {
	t.Helper()
	logf.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	if err := harbourv1.AddToScheme(scheme.Scheme); err != nil {
		t.Fatal(err)
	}
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join("..", "..", "..", "config", "webhook")},
		},
	}
	began := time.Now()
	cfg, err := env.Start()
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	fmt.Printf("envtest started in %d ms\n", time.Since(began).Milliseconds())
	k8sClient, err := client.New(cfg, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	options := &env.WebhookInstallOptions
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme.Scheme,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    options.LocalServingHost,
			Port:    options.LocalServingPort,
			CertDir: options.LocalServingCertDir,
		}),
		LeaderElection: false,
		Metrics:        metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetupBoatWebhookWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		ended := time.Now()
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
		fmt.Printf("envtest stopped in %d ms\n", time.Since(ended).Milliseconds())
	})
	address := net.JoinHostPort(options.LocalServingHost, fmt.Sprint(options.LocalServingPort))
	for deadline := time.Now().Add(20 * time.Second); ; {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			_ = conn.Close()
			return ctx, k8sClient, env
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestWebhooks(t *testing.T) {
	ctx, k8sClient, env := start(t)
	boat := &harbourv1.Boat{
		ObjectMeta: metav1.ObjectMeta{Name: "ferry", Namespace: "default"},
		Spec:       harbourv1.BoatSpec{Name: "Ferry"},
	}
	t.Run("the defaulter fills what is open", func(t *testing.T) {
		if err := k8sClient.Create(ctx, boat); err != nil {
			t.Fatal(err)
		}
		if boat.Spec.Seats != 4 {
			t.Fatalf("%d seats", boat.Spec.Seats)
		}
	})
	t.Run("the validator denies", func(t *testing.T) {
		boat.Spec.Seats = -1
		err := k8sClient.Update(ctx, boat)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `admission webhook "vboat-v1.kb.io" denied the request`) {
			t.Fatal(err)
		}
	})
	t.Run("the schema refuses", func(t *testing.T) {
		long := &harbourv1.Boat{
			ObjectMeta: metav1.ObjectMeta{Name: "long", Namespace: "default"},
			Spec:       harbourv1.BoatSpec{Name: strings.Repeat("x", 41)},
		}
		if err := k8sClient.Create(ctx, long); !apierrors.IsInvalid(err) {
			t.Fatal(err)
		}
	})
	t.Run("users that are added may do what they are bound to", func(t *testing.T) {
		user, err := env.AddUser(envtest.User{Name: "ann", Groups: []string{"nobody"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		annClient, err := client.New(user.Config(), client.Options{Scheme: scheme.Scheme})
		if err != nil {
			t.Fatal(err)
		}
		if err := annClient.List(ctx, &harbourv1.BoatList{}); !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		kubectl, err := user.Kubectl()
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := kubectl.Run("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 16)
		n, _ := out.Read(text)
		if string(text[:n]) != "ann" {
			t.Fatalf("%q", text[:n])
		}
	})
}
