// Informers and watches of client-go over ConfigMaps that are created, updated and deleted all the time, whatever becomes of the API meanwhile: did each watch
// that goes on from its last event see every write that was acknowledged, once and in order? So must informers, but where client-go has one list anew, which
// skips what was written over meanwhile: it must have the same objects as the API in the end. Ends with its standard input, and prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
)

const (
	updatesPerObject = 5
	answerTimeout    = 5 * time.Second
	catchUpTimeout   = time.Minute
)

// write names one version of one object; a deletion has the version 0.
type write struct {
	name    string
	version int64
}

// ledger has the writes that were acknowledged.
type ledger struct {
	sync.Mutex
	acknowledged []write
	failures     int
}

func (l *ledger) note(object *corev1.ConfigMap, deleted bool) {
	l.Lock()
	defer l.Unlock()
	version := versionOf(object)
	if deleted {
		version = 0
	}
	l.acknowledged = append(l.acknowledged, write{object.Name, version})
}
func (l *ledger) failed() {
	l.Lock()
	defer l.Unlock()
	l.failures++
}

// witness is what one watch saw.
type witness struct {
	sync.Mutex
	name string
	seen map[write]int
	last int64
	// ofObject has the newest version of each object. An informer promises an order for each of them, a watch for all.
	ofObject   map[string]int64
	inOrder    bool
	disordered []string
	relisted   int
	// store is an informer's.
	store cache.Store
}

func newWitness(name string, inOrder bool) *witness {
	return &witness{name: name, inOrder: inOrder, seen: map[write]int{}, ofObject: map[string]int64{}}
}
func (w *witness) see(object *corev1.ConfigMap, deleted bool) {
	w.Lock()
	defer w.Unlock()
	version := versionOf(object)
	before := w.ofObject[object.Name]
	if w.inOrder {
		before = w.last
	}
	// The object that an informer gives with a deletion may be of a version that it has seen.
	if version <= before && !(deleted && !w.inOrder && version == before) {
		w.disordered = append(w.disordered, fmt.Sprintf("%s %d after %d", object.Name, version, before))
	}
	w.last, w.ofObject[object.Name] = version, version
	if deleted {
		version = 0
	}
	w.seen[write{object.Name, version}]++
}
func (w *witness) noteList() {
	w.Lock()
	defer w.Unlock()
	w.relisted++
}
func (w *witness) hasRelisted() bool {
	w.Lock()
	defer w.Unlock()
	return w.relisted > 0
}
func (w *witness) missing(all []write) (missed []write) {
	w.Lock()
	defer w.Unlock()
	for _, one := range all {
		if w.seen[one] == 0 {
			missed = append(missed, one)
		}
	}
	return missed
}

// differs says in what the informer's store differs from what there is.
func (w *witness) differs(there []corev1.ConfigMap) string {
	if w.store == nil {
		return ""
	}
	if have := len(w.store.ListKeys()); have != len(there) {
		return fmt.Sprintf("%d objects, not %d", have, len(there))
	}
	for _, want := range there {
		have, ok, _ := w.store.GetByKey(want.Namespace + "/" + want.Name)
		if !ok || have.(*corev1.ConfigMap).ResourceVersion != want.ResourceVersion {
			return want.Name
		}
	}
	return ""
}

func versionOf(object *corev1.ConfigMap) int64 {
	version, err := strconv.ParseInt(object.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return version
}

type writer struct {
	client    kubernetes.Interface
	namespace string
	ledger    *ledger
}

func (w writer) try(do func(context.Context) (*corev1.ConfigMap, error)) *corev1.ConfigMap {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	object, err := do(ctx)
	if err == nil {
		return object
	}
	w.ledger.failed()
	time.Sleep(50 * time.Millisecond)
	return nil
}

// live is the life of one object. Tries without an answer may have been carried out: the next write begins from what is there.
func (w writer) live(name string, over <-chan struct{}) {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	get := func(ctx context.Context) (*corev1.ConfigMap, error) { return maps.Get(ctx, name, metav1.GetOptions{}) }
	object := w.try(func(ctx context.Context) (*corev1.ConfigMap, error) {
		return maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	})
	if object == nil {
		return
	}
	w.ledger.note(object, false)
	for number := 0; number < updatesPerObject; number++ {
		select {
		case <-over:
			return
		default:
		}
		if object == nil {
			if object = w.try(get); object == nil {
				continue
			}
		}
		changed := object.DeepCopy()
		changed.Data = map[string]string{"number": strconv.Itoa(number), "at": time.Now().String()}
		object = w.try(func(ctx context.Context) (*corev1.ConfigMap, error) {
			return maps.Update(ctx, changed, metav1.UpdateOptions{})
		})
		if object != nil {
			w.ledger.note(object, false)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	if err := maps.Delete(ctx, name, metav1.DeleteOptions{}); err == nil {
		w.ledger.note(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "0"}}, true)
	} else if !apierrors.IsNotFound(err) {
		w.ledger.failed()
	}
}

func (w writer) run(id int, over <-chan struct{}) {
	for number := 0; ; number++ {
		select {
		case <-over:
			return
		default:
			w.live(fmt.Sprintf("life-%d-%d", id, number), over)
		}
	}
}

// inform has an informer tell a witness.
func inform(ctx context.Context, client kubernetes.Interface, namespace string, witness *witness) error {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { witness.see(object.(*corev1.ConfigMap), false) },
		UpdateFunc: func(before, now any) {
			if versionOf(before.(*corev1.ConfigMap)) == versionOf(now.(*corev1.ConfigMap)) {
				witness.noteList()
				return
			}
			witness.see(now.(*corev1.ConfigMap), false)
		},
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				witness.noteList()
				object = unknown.Obj
			}
			witness.see(object.(*corev1.ConfigMap), true)
		},
	})
	if err != nil {
		return err
	}
	witness.store = informer.GetStore()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return ctx.Err()
	}
	return nil
}

// follow has a watch that goes on from its last event, over connections that end, tell a witness.
func follow(ctx context.Context, client kubernetes.Interface, namespace string, witness *witness) error {
	maps := client.CoreV1().ConfigMaps(namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	watching, err := watchtools.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	go func() {
		for event := range watching.ResultChan() {
			object, ok := event.Object.(*corev1.ConfigMap)
			if !ok {
				witness.Lock()
				witness.disordered = append(witness.disordered, fmt.Sprintf("%s %v", event.Type, event.Object))
				witness.Unlock()
				continue
			}
			if event.Type != watch.Bookmark {
				witness.see(object, event.Type == watch.Deleted)
			}
		}
	}()
	return nil
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster")
	namespace := flag.String("namespace", "default", "where the objects are")
	writers := flag.Int("writers", 4, "how many objects are changed at once")
	watchers := flag.Int("watchers", 3, "how many informers and how many watches there are")
	flag.Parse()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.QPS, config.Burst = 1000, 1000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var witnesses []*witness
	for number := range *watchers {
		own := *config
		own.UserAgent = fmt.Sprintf("watcher-%d", number)
		// client-go shares connections of equal configurations.
		own.Dial = (&net.Dialer{Timeout: answerTimeout}).DialContext
		client, err := kubernetes.NewForConfig(&own)
		must(err)
		informer := newWitness(fmt.Sprintf("informer-%d", number), false)
		watching := newWitness(fmt.Sprintf("watch-%d", number), true)
		witnesses = append(witnesses, informer, watching)
		must(inform(ctx, client, *namespace, informer))
		must(follow(ctx, client, *namespace, watching))
	}
	writing, err := kubernetes.NewForConfig(config)
	must(err)
	over, book := make(chan struct{}), &ledger{}
	var working sync.WaitGroup
	for id := range *writers {
		working.Add(1)
		go func() {
			defer working.Done()
			writer{writing, *namespace, book}.run(id, over)
		}()
	}
	fmt.Println("watching")
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(over)
	working.Wait()
	there, err := writing.CoreV1().ConfigMaps(*namespace).List(ctx, metav1.ListOptions{})
	must(err)
	judge(book, witnesses, there.Items)
}

func judge(book *ledger, witnesses []*witness, there []corev1.ConfigMap) {
	deadline := time.Now().Add(catchUpTimeout)
	faults := map[string]any{}
	relisted, skippedByLists := 0, 0
	for _, one := range witnesses {
		missed, differs := one.missing(book.acknowledged), one.differs(there)
		for (len(missed) > 0 && !one.hasRelisted() || differs != "") && time.Now().Before(deadline) {
			time.Sleep(100 * time.Millisecond)
			missed, differs = one.missing(book.acknowledged), one.differs(there)
		}
		skipped := 0
		if one.hasRelisted() {
			skipped, missed = len(missed), nil
		}
		skippedByLists += skipped
		one.Lock()
		var doubled []write
		for what, times := range one.seen {
			if times > 1 {
				doubled = append(doubled, what)
			}
		}
		relisted += one.relisted
		if len(missed)+len(doubled)+len(one.disordered) > 0 || differs != "" {
			faults[one.name] = map[string]string{
				"missed": fmt.Sprint(missed), "doubled": fmt.Sprint(doubled), "disordered": fmt.Sprint(one.disordered), "differs": differs,
			}
		}
		one.Unlock()
	}
	line, _ := json.Marshal(map[string]any{
		"acknowledged": len(book.acknowledged), "failures": book.failures, "relisted": relisted, "skippedByLists": skippedByLists, "faults": faults,
	})
	fmt.Println(string(line))
	if len(faults) > 0 {
		os.Exit(1)
	}
}
