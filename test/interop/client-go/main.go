// An ordinary client-go program, as operators are made of: typed clients with protobuf bodies, informers, pagers, server-side apply, the
// dynamic client, the metadata client, discovery and leader election. Prints a line for each thing that works and fails with the first that does not.
//
//	go run . KUBECONFIG
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
)

const namespace = "client-go"

func must(what string, err error) {
	if err != nil {
		fmt.Printf("FAILED %s: %v\n", what, err)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", what)
}

func expect(what string, condition bool) {
	if !condition {
		must(what, fmt.Errorf("not so"))
	}
	fmt.Printf("ok %s\n", what)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must("kubeconfig", err)
	config.QPS, config.Burst = 1000, 1000
	binary := rest.CopyConfig(config)
	binary.ContentType = runtime.ContentTypeProtobuf
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(binary)
	must("client", err)

	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	must("create a namespace", err)
	discover(client)
	write(ctx, client)
	watch(ctx, client)
	page(ctx, client)
	dynamically(ctx, config)
	inform(ctx, config)
	lead(ctx, client)
	must("delete the namespace", client.CoreV1().Namespaces().Delete(ctx, namespace, metav1.DeleteOptions{}))
}

func discover(client *kubernetes.Clientset) {
	lists, err := client.Discovery().ServerPreferredResources()
	must("discovery", err)
	expect("discovery names groups", len(lists) > 15)
	version, err := client.Discovery().ServerVersion()
	must("version", err)
	expect("version is 1.36", version.Major == "1" && version.Minor == "36")
	_, err = client.Discovery().OpenAPIV3().Paths()
	must("OpenAPI v3", err)
}

func write(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "gen-"}, Data: map[string]string{"a": "b"}, BinaryData: map[string][]byte{"x": {0, 255}}}, metav1.CreateOptions{})
	must("create with protobuf", err)
	expect("a name was generated", len(made.Name) == 9 && made.UID != "")
	stale := made.DeepCopy()
	made.Data["a"] = "c"
	updated, err := maps.Update(ctx, made, metav1.UpdateOptions{})
	must("update", err)
	stale.Data["a"] = "d"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	expect("a stale update conflicts", apierrors.IsConflict(err))
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: updated.Name}}, metav1.CreateOptions{})
	expect("a second create is refused", apierrors.IsAlreadyExists(err))
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "Not_A_Name"}}, metav1.CreateOptions{})
	expect("a bad name is invalid", apierrors.IsInvalid(err))
	_, err = maps.Patch(ctx, updated.Name, types.StrategicMergePatchType, []byte(`{"data":{"e":"f"}}`), metav1.PatchOptions{})
	must("strategic merge patch", err)
	applied, err := maps.Apply(ctx, applycorev1.ConfigMap("applied", namespace).WithData(map[string]string{"k": "v"}), metav1.ApplyOptions{FieldManager: "one"})
	must("server-side apply", err)
	expect("the manager is recorded", len(applied.ManagedFields) == 1 && applied.ManagedFields[0].Manager == "one")
	_, err = maps.Apply(ctx, applycorev1.ConfigMap("applied", namespace).WithData(map[string]string{"k": "w"}), metav1.ApplyOptions{FieldManager: "two"})
	expect("a second manager conflicts", apierrors.IsConflict(err))
	must("delete", maps.Delete(ctx, updated.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &updated.UID}}))
	_, err = maps.Get(ctx, updated.Name, metav1.GetOptions{})
	expect("and it is gone", apierrors.IsNotFound(err))
}

func watch(ctx context.Context, client *kubernetes.Clientset) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	seen := map[string]int{}
	events := make(chan string, 100)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { events <- "add" },
		UpdateFunc: func(any, any) { events <- "update" },
		DeleteFunc: func(any) { events <- "delete" },
	})
	must("informer", err)
	factory.Start(ctx.Done())
	expect("informer synced", cache.WaitForCacheSync(ctx.Done(), informer.HasSynced))
	maps := client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	must("create under watch", err)
	made.Data = map[string]string{"a": "b"}
	_, err = maps.Update(ctx, made, metav1.UpdateOptions{})
	must("update under watch", err)
	must("delete under watch", maps.Delete(ctx, "watched", metav1.DeleteOptions{}))
	for seen["delete"] == 0 {
		select {
		case event := <-events:
			seen[event]++
		case <-ctx.Done():
			must("watch events", ctx.Err())
		}
	}
	expect("every event arrived", seen["add"] >= 1 && seen["update"] == 1)
}

func page(ctx context.Context, client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(namespace)
	for i := 0; i < 25; i++ {
		_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("page-%02d", i), Labels: map[string]string{"page": "yes"}}}, metav1.CreateOptions{})
		if err != nil {
			must("create pages", err)
		}
	}
	count := 0
	list := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, options) }))
	list.PageSize = 10
	must("page", list.EachListItem(ctx, metav1.ListOptions{LabelSelector: "page=yes"}, func(runtime.Object) error { count++; return nil }))
	expect("every item once", count == 25)
	must("delete a collection", maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "page=yes"}))
}

func dynamically(ctx context.Context, config *rest.Config) {
	client, err := dynamic.NewForConfig(config)
	must("dynamic client", err)
	deployments := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace(namespace)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": int64(2), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "example.org/web:1"}}}},
		}}}
	_, err = deployments.Create(ctx, object, metav1.CreateOptions{})
	must("create a deployment", err)
	must("its pods run", wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		current, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ready, _, _ := unstructured.NestedInt64(current.Object, "status", "readyReplicas")
		return ready == 2, nil
	}))
}

// inform looks at Deployments through the informers of the dynamic and of the metadata client, neither of which knows their type.
func inform(ctx context.Context, config *rest.Config) {
	resource := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	client, err := metadata.NewForConfig(config)
	must("metadata client", err)
	found, err := client.Resource(resource).Namespace(namespace).Get(ctx, "web", metav1.GetOptions{})
	must("metadata of one object", err)
	whole, err := dynamic.NewForConfig(config)
	must("dynamic client for informers", err)
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(whole, 0, namespace, nil)
	partial := metadatainformer.NewFilteredSharedInformerFactory(client, 0, namespace, nil)
	objects, heads := untyped.ForResource(resource), partial.ForResource(resource)
	synced := []cache.InformerSynced{objects.Informer().HasSynced, heads.Informer().HasSynced}
	untyped.Start(ctx.Done())
	partial.Start(ctx.Done())
	expect("dynamic and metadata informers sync", cache.WaitForCacheSync(ctx.Done(), synced...))
	_, err = client.Resource(resource).Namespace(namespace).Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{})
	must("patch by the metadata client", err)
	seen := func(informer cache.GenericLister) bool {
		object, err := informer.ByNamespace(namespace).Get("web")
		if err != nil {
			return false
		}
		head, err := meta.Accessor(object)
		return err == nil && head.GetLabels()["seen"] == "yes" && head.GetUID() == found.UID
	}
	must("both informers tell of it", wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(context.Context) (bool, error) {
		return seen(objects.Lister()) && seen(heads.Lister()), nil
	}))
	must("delete a collection by metadata", client.Resource(resource).Namespace(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "seen=yes"}))
}

func lead(ctx context.Context, client *kubernetes.Clientset) {
	leading := make(chan struct{})
	lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "lead", Namespace: namespace}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
	run, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		leaderelection.RunOrDie(run, leaderelection.LeaderElectionConfig{Lock: lock, LeaseDuration: 5 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: time.Second, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leading) }, OnStoppedLeading: func() {}}})
		close(done)
	}()
	select {
	case <-leading:
		fmt.Println("ok leader election")
	case <-ctx.Done():
		must("leader election", ctx.Err())
	}
	stop()
	<-done
}
